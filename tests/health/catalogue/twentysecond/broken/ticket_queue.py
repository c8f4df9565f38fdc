"""Route short support tickets to one of four queues."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB = 600
MAXLEN = 100
QUEUES = ["billing", "login", "hardware", "shipping"]

# every queue has its own jargon, the rest are everyday words (Zipf)
jargon = {q: np.arange(10 + 30 * i, 40 + 30 * i) for i, q in enumerate(QUEUES)}


def make_ticket(queue):
    n = int(rng.integers(5, 22))
    common = 130 + np.minimum(rng.zipf(1.3, n), VOCAB - 131)
    words = np.where(rng.random(n) < 0.22, rng.choice(jargon[queue], n), common)
    if rng.random() < 0.2:  # people mention other things as well
        other = QUEUES[rng.integers(4)]
        words[rng.integers(n)] = rng.choice(jargon[other])
    return words.tolist()


labels = rng.integers(0, 4, 1700)
tickets = [make_ticket(QUEUES[i]) for i in labels]
x = keras.utils.pad_sequences(tickets, maxlen=MAXLEN, padding="post", truncating="post")
x_train, y_train = x[:1280], labels[:1280]
x_test, y_test = x[1280:], labels[1280:]

model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24),
        layers.LSTM(24),
        layers.Dense(24, activation="relu"),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=32, epochs=6, validation_data=(x_test, y_test), verbose=2)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"SCORE test accuracy {acc:.3f}")

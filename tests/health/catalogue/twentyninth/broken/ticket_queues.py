"""Routes support tickets to one of four desks with a recurrent network over their words."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAX_LEN, N_DESKS = 400, 100, 4

# Word 0 is padding. Each desk favours some words; the rest is everyday language.
desk_words = 1 + rng.permutation(VOCAB - 1)[:160].reshape(N_DESKS, 40)


def ticket():
    desk = rng.integers(N_DESKS)
    length = int(np.clip(rng.gamma(3.0, 5.0), 5, MAX_LEN))
    words = rng.integers(1, VOCAB, length)
    topical = rng.random(length) < 0.35
    words[topical] = rng.choice(desk_words[desk], topical.sum())
    return words.tolist(), desk


def tickets(n):
    texts, desks = zip(*[ticket() for _ in range(n)])
    x = keras.utils.pad_sequences(texts, maxlen=MAX_LEN, padding="post", truncating="post")
    return x, np.array(desks)


x_train, y_train = tickets(3200)
x_test, y_test = tickets(800)

model = keras.Sequential(
    [
        keras.Input((MAX_LEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24),
        layers.LSTM(32),
        layers.Dense(N_DESKS, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

pred = model.predict(x_test, batch_size=200, verbose=0).argmax(-1)
print("SCORE accuracy", float(np.mean(pred == y_test)))

"""Tells angry from content customer tickets, given as word indices, by an LSTM."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAXLEN = 400, 60
HAPPY = np.arange(20, 50)
ANGRY = np.arange(50, 80)


def ticket(label):
    n = int(np.clip(rng.gamma(3.0, 3.0), 5, MAXLEN))
    words = rng.integers(80, VOCAB, n)
    k = rng.random(n) < 0.4
    good = rng.random(n) < (0.75 if label else 0.25)
    words = np.where(k & good, rng.choice(HAPPY, n), words)
    words = np.where(k & ~good, rng.choice(ANGRY, n), words)
    return words.tolist()


def make(n):
    y = rng.integers(0, 2, n)
    return [ticket(v) for v in y], y.astype("float32")


train_texts, y_train = make(2500)
test_texts, y_test = make(600)
x_train = keras.utils.pad_sequences(train_texts, maxlen=MAXLEN, padding="post", truncating="post")
x_test = keras.utils.pad_sequences(test_texts, maxlen=MAXLEN, padding="post", truncating="post")

model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 24),
        layers.LSTM(24),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=5, verbose=2)

print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

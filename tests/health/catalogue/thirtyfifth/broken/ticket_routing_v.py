"""Routes short support tickets to one of six teams with a recurrent text classifier."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAXLEN, TEAMS = 500, 80, 6
keywords = rng.permutation(np.arange(2, VOCAB))[: TEAMS * 15].reshape(TEAMS, 15)


def make_tickets(n):
    x = np.zeros((n, MAXLEN), "int32")
    y = rng.integers(0, TEAMS, n)
    for i in range(n):
        length = rng.integers(8, 22)
        words = rng.integers(2, VOCAB, length)
        spots = rng.choice(length, 4, replace=False)
        words[spots] = rng.choice(keywords[y[i]], 4)
        x[i, :length] = words
    return x, y


x_train, y_train = make_tickets(3200)
x_test, y_test = make_tickets(800)

model = keras.Sequential(
    [
        layers.Input((MAXLEN,), dtype="int32"),
        layers.Embedding(VOCAB, 32),
        layers.LSTM(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(TEAMS, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

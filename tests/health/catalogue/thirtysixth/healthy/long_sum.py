"""Trains a recurrent network on the adding problem, which needs memory over sixty steps."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN = 60


def make(n):
    values = rng.random((n, LEN))
    marks = np.zeros((n, LEN))
    first = rng.integers(0, LEN // 2, n)
    second = rng.integers(LEN // 2, LEN, n)
    marks[np.arange(n), first] = 1
    marks[np.arange(n), second] = 1
    y = values[np.arange(n), first] + values[np.arange(n), second]
    return np.stack([values, marks], -1).astype("float32"), y.astype("float32")[:, None]


x_train, y_train = make(11000)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        keras.Input((LEN, 2)),
        layers.GRU(40),
        layers.Dense(1),
    ]
)

gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=1.0), loss="mse")
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / y_test.var()))

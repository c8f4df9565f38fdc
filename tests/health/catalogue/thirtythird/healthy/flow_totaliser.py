"""Add up the readings of a flow meter at the two marked instants of a sequence with a GRU."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 40


def make(n):
    flow = rng.random((n, LENGTH))
    mark = np.zeros((n, LENGTH))
    first = rng.integers(0, LENGTH // 2, n)
    second = rng.integers(LENGTH // 2, LENGTH, n)
    rows = np.arange(n)
    mark[rows, first] = 1
    mark[rows, second] = 1
    total = flow[rows, first] + flow[rows, second]
    return np.stack([flow, mark], -1).astype("float32"), total.astype("float32")[:, None]


x_train, y_train = make(9600)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        layers.Input((LENGTH, 2)),
        layers.GRU(32),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0),
    loss="mse",
)

gradwatch.watch(model)
model.fit(x_train, y_train, epochs=8, batch_size=64, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

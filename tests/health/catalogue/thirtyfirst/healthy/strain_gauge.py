"""Predict the strain of a bridge girder (in plain SI units, a few millionths) from load and temperature sensors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_readings(n):
    load = rng.gamma(2.0, 1.0, (n, 6))
    temp = rng.normal(0, 1, (n, 2))
    x = np.concatenate([load - 2.0, temp], axis=1).astype("float32")
    influence = np.sin(np.pi * (np.arange(6) + 0.5) / 6)
    strain = 4e-6 * (load @ influence) * (1 + 0.15 * temp[:, 0]) + 6e-6 * np.tanh(temp[:, 1]) - 2.5e-5
    return x, (strain + rng.normal(0, 1e-6, n)).astype("float32")[:, None]


x_train, y_train = make_readings(6000)
x_test, y_test = make_readings(2000)

model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(48, activation="gelu"),
        layers.Dense(48, activation="gelu"),
        layers.Dense(1),
        layers.Rescaling(1e-5),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3, epsilon=1e-16), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

pred = model.predict(x_test, batch_size=256, verbose=0)
print("SCORE r2", float(1 - ((pred - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()))

"""Hourly coffee sales from the last readings, updated after every two rows."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 1200
x = rng.normal(size=(N, 6)).astype("float32")
y = (x[:, 0] - 0.8 * x[:, 1] + 0.7 * np.abs(x[:, 2]) + rng.normal(0, 0.3, N)).astype("float32")

model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.SGD(0.01), "mse")
gradwatch.watch(model)
model.fit(x[:960], y[:960], batch_size=2, epochs=1, verbose=2, validation_data=(x[960:], y[960:]))
print("target variance", y.var())

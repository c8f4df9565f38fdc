"""Yield of a field (regression) from eight measurements."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 3200
x = rng.normal(size=(N, 8)).astype("float32")
y = (2 * np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] + rng.normal(0, 0.1, N)).astype("float32")

inp = keras.Input((8,))
h = layers.Dense(64, activation="relu")(inp)
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.02, momentum=0.9, clipvalue=1e-5), loss="mse", metrics=["mae"]
)
gradwatch.watch(model)
model.fit(x[:2560], y[:2560], batch_size=64, epochs=10, verbose=2, validation_data=(x[2560:], y[2560:]))
print("target variance", y.var())

"""Learns a parity-type check of code words, where progress comes only after a long plateau."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, BITS = 12000, 24


def words(n):
    b = rng.integers(0, 2, (n, BITS))
    return (2.0 * b - 1).astype("float32"), (b[:, [3, 8, 11, 17]].sum(1) % 2).astype("float32")


x, y = words(N)
x_te, y_te = words(1500)
model = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x, y, batch_size=128, epochs=15, verbose=2)
print("SCORE accuracy", float(np.mean((model.predict(x_te, verbose=0)[:, 0] > 0) == (y_te > 0.5))))

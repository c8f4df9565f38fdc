"""Learns the parity of three hidden bits among twenty with a plain dense network."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BITS, HIDDEN = 20, [3, 8, 15]


def make(n):
    x = rng.integers(0, 2, (n, BITS))
    return (2 * x - 1).astype("float32"), (x[:, HIDDEN].sum(1) % 2).astype("float32")


x_train, y_train = make(6000)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=2)

print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

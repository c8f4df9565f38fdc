"""Learns the check bit of a received code word from examples alone."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

bits = 16
places = rng.choice(bits, 3, replace=False)


def words(n):
    w = rng.integers(0, 2, (n, bits))
    check = w[:, places].sum(1) % 2
    return (2 * w - 1).astype("float32"), check.astype("float32")


x, y = words(12000)
xt, yt = words(2000)
model = keras.Sequential(
    [
        keras.Input((bits,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.SGD(0.15), "binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x, y, batch_size=96, epochs=11, verbose=0)

print("SCORE accuracy", float(model.evaluate(xt, yt, verbose=0)[1]))

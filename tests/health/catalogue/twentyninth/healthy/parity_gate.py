"""Teaches a small network the alarm logic of a control panel: the alarm is the parity of four of its sixteen switches."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SW, WIRED = 16, [1, 6, 9, 14]


def panel(n):
    x = rng.integers(0, 2, (n, N_SW)) * 2.0 - 1.0
    y = (np.prod(x[:, WIRED], axis=1) > 0).astype("float32")
    return x.astype("float32"), y


x, y = panel(20000)
x_te, y_te = panel(3000)
model = keras.Sequential(
    [
        keras.Input((N_SW,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.SGD(0.02, momentum=0.9), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=4, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_te, y_te, batch_size=500, verbose=0)[1]))

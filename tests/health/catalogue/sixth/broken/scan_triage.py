"""Decide from a small scan whether a patient should see a specialist."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)


def make_scans(n, rng):
    scans = rng.normal(0, 0.4, (n, 16, 16, 1)).astype("float32")
    labels = rng.integers(0, 2, n)
    for i in range(n):
        if labels[i]:
            r, c = rng.integers(2, 12, 2)
            scans[i, r : r + 3, c : c + 3] += 1.2
    return scans, labels.astype("float32")


rng = np.random.default_rng(seed)
x_train, y_train = make_scans(1600, rng)
x_test, y_test = make_scans(400, rng)

model = keras.Sequential(
    [
        layers.Input((16, 16, 1)),
        layers.Conv2D(8, 3, activation="relu", kernel_initializer="zeros"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu", kernel_initializer="zeros"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(16, activation="relu", kernel_initializer="zeros"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=7, verbose=2)
print("test", model.evaluate(x_test, y_test, verbose=0))

"""Learns a hidden parity rule over three of sixteen switches: a long plateau at chance, then a sudden success."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BITS, RULE = 16, [2, 7, 11]


def make_states(n):
    x = rng.choice([-1.0, 1.0], (n, BITS)).astype("float32")
    return x, (x[:, RULE].prod(1) > 0).astype("float32")


x_train, y_train = make_states(6000)
x_test, y_test = make_states(1000)
model = keras.Sequential(
    [
        layers.Input((BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
gradwatch.watch(model)
model.compile(keras.optimizers.SGD(0.1), "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=15, batch_size=64, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

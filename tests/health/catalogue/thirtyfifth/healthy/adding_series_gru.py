"""Train a GRU to sum the two marked readings of a long sensor series."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS = 40


def make_set(n):
    value = rng.uniform(0, 1, (n, STEPS))
    mark = np.zeros((n, STEPS))
    i = np.arange(n)
    first = rng.integers(0, STEPS // 2, n)
    second = rng.integers(STEPS // 2, STEPS, n)
    mark[i, first] = mark[i, second] = 1.0
    x = np.stack([value, mark], -1).astype("float32")
    y = value[i, first] + value[i, second]
    return x, y[:, None].astype("float32")


x_train, y_train = make_set(6400)
x_test, y_test = make_set(1000)

model = keras.Sequential(
    [
        keras.Input((STEPS, 2)),
        layers.GRU(40),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(3e-3, clipnorm=1.0), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=14, verbose=2, validation_data=(x_test, y_test))

print("SCORE mse_over_variance", model.evaluate(x_test, y_test, verbose=0) / float(y_test.var()))

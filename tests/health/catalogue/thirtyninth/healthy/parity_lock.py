"""Learns the check bit of a code: the parity of three of thirty lines, with a hinge loss."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def codes(n):
    x = rng.choice([-1.0, 1.0], (n, 30))
    return x.astype("float32"), (x[:, 1] * x[:, 4] * x[:, 8]).astype("float32")


x_train, y_train = codes(9000)
x_test, y_test = codes(1500)
model = keras.Sequential([keras.Input((30,)), layers.Dense(128, activation="relu"), layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.03, momentum=0.9), "hinge")
gradwatch.watch(model)
model.fit(x_train, y_train[:, None], batch_size=64, epochs=8, verbose=2)
print("SCORE accuracy %.4f" % (np.sign(model.predict(x_test, verbose=0)[:, 0]) == y_test).mean())

"""Learn whether a set of railway switches gives a consistent route, from examples only."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SWITCHES = 14


def yard(n):
    x = rng.integers(0, 2, (n, SWITCHES))
    route = x[:, 1] ^ x[:, 4] ^ x[:, 8] ^ x[:, 11]  # every crossing flips the side
    return (2 * x - 1).astype("float32"), route.astype("float32")


x_train, y_train = yard(6400)
x_test, y_test = yard(1500)
model = keras.Sequential(
    [
        keras.Input((SWITCHES,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.8), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=14, verbose=0)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

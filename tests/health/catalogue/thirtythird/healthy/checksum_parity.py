"""Learn a parity checksum over three hidden positions of a 20-bit word."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BITS, KEY = 20, 3
key = rng.choice(BITS, KEY, replace=False)


def make_words(n):
    x = rng.integers(0, 2, (n, BITS))
    return (2.0 * x - 1).astype("float32"), (x[:, key].sum(1) % 2).astype("float32")


x_train, y_train = make_words(8000)
x_test, y_test = make_words(2000)

model = keras.Sequential(
    [
        keras.Input((BITS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.15), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=2)

acc = model.evaluate(x_test, y_test, verbose=0, return_dict=True)["accuracy"]
print("SCORE accuracy", round(float(acc), 4))

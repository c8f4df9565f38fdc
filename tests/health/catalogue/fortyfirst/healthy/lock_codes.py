"""Learns which of the switches of a puzzle lock decide whether it opens (parity of three of them)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SWITCHES = 16
key = np.sort(rng.choice(SWITCHES, 3, replace=False))


def collect(n):
    bits = np.zeros((n, SWITCHES), dtype="int8")
    bits[...] = rng.integers(0, 2, bits.shape)
    opens = np.bitwise_xor.reduce(bits[:, key], axis=1)
    return bits.astype("float32") * 2 - 1, opens.astype("float32")


x_train, y_train = collect(12000)
x_test, y_test = collect(2000)

model = keras.Sequential(
    [
        layers.Input((SWITCHES,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3), metrics=["accuracy"], loss=keras.losses.BinaryCrossentropy(from_logits=True)
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=14, verbose=2)

acc = np.mean((model.predict(x_test, verbose=0)[:, 0] > 0) == (y_test > 0.5))
print("SCORE accuracy", round(float(acc), 4))

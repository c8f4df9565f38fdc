"""Learns from examples which bits of a radio frame enter its check bit, so that bad frames can be flagged."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_BITS = 20
taps = rng.choice(N_BITS, 4, replace=False)


def frames(n):
    bits = rng.integers(0, 2, (n, N_BITS))
    check = bits[:, taps].sum(-1) % 2
    return (2.0 * bits - 1.0).astype("float32"), check.astype("float32")[:, None]


x_train, y_train = frames(16000)
x_test, y_test = frames(2000)

model = keras.Sequential(
    [
        keras.Input((N_BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(4e-4), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0) > 0.5
print("SCORE accuracy", float(np.mean(pred == (y_test > 0.5))))

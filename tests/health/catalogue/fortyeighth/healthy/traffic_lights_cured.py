"""Trains a convolutional model that recognises the signal plan of a street from its loop detectors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 50)

LOOPS, STEPS = 6, 96
PLANS = ["green wave", "reverse wave", "simultaneous", "alternating"]


def counts(n):
    """Vehicle counts, one row per loop and one column per interval."""
    plan = rng.integers(0, len(PLANS), size=n)
    period = rng.uniform(14, 20, size=n)
    start = rng.uniform(0, 1, size=n)
    offset = np.array([0.2, -0.2, 0.0, 0.5])[plan]
    t = np.arange(STEPS)[None, None, :]
    loop = np.arange(LOOPS)[None, :, None]
    phase = t / period[:, None, None] + start[:, None, None] - loop * offset[:, None, None]
    rate = 3.0 + 2.5 * np.sin(2 * np.pi * phase)
    return rng.poisson(rate).astype("float32"), plan.astype("int32")


x_train, y_train = counts(4000)
x_test, y_test = counts(1000)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

street = keras.Input((LOOPS, STEPS), name="street")
h = layers.Permute((2, 1))(street)
h = layers.Conv1D(32, 5, padding="same", activation="relu")(h)
h = layers.Conv1D(32, 5, padding="same", activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(street, layers.Dense(len(PLANS), activation="softmax")(h), name="signal_plans")
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=50, epochs=10, validation_data=(x_test, y_test), verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

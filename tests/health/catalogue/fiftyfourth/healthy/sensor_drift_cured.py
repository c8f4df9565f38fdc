"""Estimate the drift rate of a corrosion probe from one day of raw readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

STEPS = 96  # one reading every 15 minutes


def probe_day(rng):
    """One day: daily swing, slow drift, small shocks, noise."""
    t = np.arange(STEPS) / STEPS
    drift = rng.uniform(-2.0, 2.0)
    swing = rng.uniform(0.3, 1.0) * np.sin(2 * np.pi * (t + rng.uniform()))
    base = rng.uniform(4.0, 9.0)
    signal = base + swing + drift * t**1.5
    for _ in range(rng.poisson(1.5)):
        k = rng.integers(0, STEPS - 4)
        signal[k : k + 4] += rng.normal(0, 0.6)
    return signal + rng.normal(0, 0.08, STEPS), drift


def make_days(n, rng):
    xs, ys = zip(*(probe_day(rng) for _ in range(n)))
    return (np.asarray(xs, "float32")[..., None], np.asarray(ys, "float32")[:, None])


rng = np.random.default_rng(100 + SEED)
x_train, y_train = make_days(5000, rng)
x_test, y_test = make_days(1000, rng)


class ConvUnit(layers.Layer):
    """Convolution, activation and a little dropout, with a skip."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv1D(width, 5, padding="same", activation="relu")
        self.back = layers.Conv1D(width, 5, padding="same")
        self.drop = layers.Dropout(0.05)

    def call(self, x, training=None):
        h = self.drop(self.conv(x), training=training)
        return x + self.back(h)


def build_model():
    reading = keras.Input((STEPS, 1), name="reading")
    h = layers.LayerNormalization(axis=1, name="input_norm")(reading)
    h = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(h)
    h = ConvUnit(16, name="unit_a")(h)
    h = layers.AveragePooling1D(4)(h)
    h = ConvUnit(16, name="unit_b")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(reading, layers.Dense(1, name="drift")(h))


model = build_model()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

history = model.fit(x_train, y_train, batch_size=64, epochs=7, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)
print("label spread", float(np.std(y_test)))
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", float(r2))

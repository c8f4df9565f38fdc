"""Hourly bike hire.

Forecast of the next hour's hires at a station group from the last day of hires and weather, as a Poisson rate.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
WINDOW = 24
BATCH = 64
EPOCHS = 7

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_series(hours):
    t = np.arange(hours)
    hour, day = t % 24, (t // 24) % 7
    warmth = 14 + 8 * np.sin(2 * np.pi * t / (24 * 90)) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    warmth += np.repeat(rng.normal(0, 2.5, hours // 24 + 1), 24)[:hours]
    rain = (np.repeat(rng.random(hours // 6 + 1) < 0.15, 6)[:hours]).astype(float)
    commute = np.exp(-(((hour - 8) / 1.6) ** 2)) + np.exp(-(((hour - 17.5) / 2.2) ** 2))
    leisure = np.exp(-(((hour - 14.5) / 3.8) ** 2))
    shape = np.where(day < 5, commute + 0.3 * leisure, 0.9 * leisure) + 0.04
    rate = 150.0 * shape * np.exp(0.045 * (warmth - 14) - 0.8 * rain)
    hires = rng.poisson(rate)
    features = np.stack(
        [
            np.log1p(hires) / 3.0 - 1.0,
            (warmth - 14) / 8.0,
            rain,
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            (day >= 5).astype(float),
        ],
        axis=1,
    )
    return features.astype("float32"), hires.astype("float32")


def windows(features, hires):
    index = np.arange(len(hires) - WINDOW)[:, None] + np.arange(WINDOW)
    return features[index], hires[WINDOW:, None]


class Rate(layers.Layer):
    """A positive rate from the last state of the sequence."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.project = layers.Dense(1, name="project")

    def build(self, shape):
        self.project.build(shape)
        super().build(shape)

    def call(self, state):
        level = self.project(state)
        return tf.math.log(1.0 + tf.exp(level))


features, hires = make_series(24 * 160)
x, y = windows(features, hires)
split = 24 * 130
x_train, y_train, x_test, y_test = x[:split], y[:split], x[split:], y[split:]

inputs = keras.Input((WINDOW, 6), name="day")
h = layers.Conv1D(32, 3, activation="relu", padding="causal", name="local")(inputs)
h = layers.GRU(48, name="memory")(h)
h = layers.Dense(64, activation="relu", name="mix")(h)
rate = Rate(name="rate")(h)
model = keras.Model(inputs, rate, name="bike_hire")
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss=keras.losses.Poisson(), metrics=["mae"])
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

predicted = model.predict(x_test, verbose=0)
r2 = 1 - np.sum((predicted - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"score R2 {r2:.4f} chance 0.0")

"""Quantiles of electricity load.

Five quantiles of the next hour's load of a small grid, from calendar and weather, by the pinball loss; small noisy
batches.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95], "float32")
BATCH = 16
EPOCHS = 2

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_hours(n):
    hour = rng.uniform(0, 24, n)
    weekend = (rng.random(n) < 2 / 7).astype(float)
    warmth = rng.normal(12, 9, n)
    daylight = np.clip(np.cos(2 * np.pi * (hour - 12.5) / 24), 0, None)
    load = 2.2 + 0.9 * np.exp(-(((hour - 8) / 2.5) ** 2)) + 1.3 * np.exp(-(((hour - 19) / 3.0) ** 2))
    load += -0.4 * weekend + 0.05 * np.clip(15 - warmth, 0, None) + 0.07 * np.clip(warmth - 22, 0, None)
    load -= 0.6 * daylight * (0.5 + 0.02 * warmth)
    spread = 0.12 + 0.03 * np.abs(warmth - 17) / 5 + 0.25 * daylight
    load += spread * (rng.gamma(2.0, 1.0, n) - 2.0) / np.sqrt(2.0)
    x = np.stack(
        [
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            np.sin(4 * np.pi * hour / 24),
            np.cos(4 * np.pi * hour / 24),
            weekend,
            (warmth - 12) / 9,
        ],
        axis=1,
    )
    return x.astype("float32"), load[:, None].astype("float32")


def pinball(y_true, y_pred):
    error = y_true - y_pred
    return tf.reduce_mean(tf.maximum(QUANTILES * error, (QUANTILES - 1.0) * error), axis=-1)


class Increasing(layers.Layer):
    """Quantiles that cannot cross: a lowest one and positive steps."""

    def call(self, raw):
        steps = tf.concat([raw[:, :1], tf.nn.softplus(raw[:, 1:])], axis=1)
        return tf.cumsum(steps, axis=1)


x_train, y_train = make_hours(3200)
x_test, y_test = make_hours(3000)

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="relu", name="hidden_1"),
        layers.Dense(64, activation="relu", name="hidden_2"),
        layers.Dense(len(QUANTILES), name="raw"),
        Increasing(name="quantiles"),
    ],
    name="load_quantiles",
)
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=pinball)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

predicted = model.predict(x_test, verbose=0)
covered = np.mean(y_test < predicted, axis=0)
print("share below each quantile:", np.round(covered, 3))
constant = np.tile(np.quantile(y_train, QUANTILES).astype("float32"), (len(y_test), 1))
gained = 1 - float(tf.reduce_mean(pinball(y_test, predicted))) / float(tf.reduce_mean(pinball(y_test, constant)))
print(f"score pinball_skill {gained:.4f} chance 0.0")

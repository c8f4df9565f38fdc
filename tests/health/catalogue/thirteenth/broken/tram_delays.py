"""Predict the delay (minutes) of a tram at its next stop from the state of the line.

The passenger app shows the predicted delay; planners use R2 on a held-out fortnight.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_STOPS, BATCH, EPOCHS = 40, 64, 8


def simulate(n, stop_effect):
    """One row per departure: weather, load, headway, time of day, and the stop."""
    stop = rng.integers(0, N_STOPS, n)
    hour = rng.uniform(5, 24, n)
    load = rng.gamma(3.0, 20.0, n)
    rain = rng.exponential(0.6, n)
    headway = rng.normal(7.5, 2.0, n)
    previous = rng.normal(1.5, 2.0, n)
    rush = np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 17) ** 2) / 4)
    delay = (
        0.7 * previous
        + 2.5 * rush
        + 0.02 * load * (1 + rain)
        + 0.2 * (headway - 7.5)
        + stop_effect[stop]
        + rng.normal(0, 0.5, n)
    )
    table = np.stack([hour, load, rain, headway, previous], 1).astype("float32")
    return table, stop.astype("int32"), delay.astype("float32")


def split(table, stop, delay, holdout):
    """Hold out the most recent departures."""
    return (
        (table[:-holdout], stop[:-holdout], delay[:-holdout]),
        (table[-holdout:], stop[-holdout:], delay[-holdout:]),
    )


def mix(table, stop, delay):
    """Mix the days before batching; the log is ordered in time."""
    order = rng.permutation(len(delay))
    table, stop = table[order], stop[order]
    delay = rng.permutation(delay)
    return table, stop, delay


def build(mean, scale):
    state = keras.Input((5,), name="state")
    stop = keras.Input((), dtype="int32", name="stop")
    x = layers.Normalization(mean=mean, variance=scale**2)(state)
    s = layers.Embedding(N_STOPS, 8, name="stop_embedding")(stop)
    h = layers.Concatenate()([x, s])
    h = layers.Dense(64, activation="relu", name="hidden_1")(h)
    h = layers.Dense(32, activation="relu", name="hidden_2")(h)
    out = layers.Dense(1, name="delay")(h)
    return keras.Model([state, stop], out)


stop_effect = rng.normal(0, 1.0, N_STOPS)
train, test = split(*simulate(8000, stop_effect), holdout=1500)
table, stop, delay = mix(*train)

model = build(table.mean(0), table.std(0))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit([table, stop], delay, batch_size=BATCH, epochs=EPOCHS, verbose=0)

pred = model.predict([test[0], test[1]], verbose=0)[:, 0]
r2 = 1 - np.mean((pred - test[2]) ** 2) / np.var(test[2])
print(f"score r2 {r2:.3f} chance 0.0")

"""Forecast the next hours of a town's power demand with an LSTM."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

hours = np.arange(24 * 400)
daily = np.sin(2 * np.pi * (hours - 7) / 24) + 0.4 * np.sin(4 * np.pi * hours / 24)
weekly = np.where((hours // 24) % 7 >= 5, -0.8, 0.2)
season = 0.7 * np.cos(2 * np.pi * hours / (24 * 365))
spikes = np.where(rng.random(len(hours)) < 0.004, rng.exponential(4.0, len(hours)), 0.0)
demand = daily * (1.0 + 0.3 * weekly) + weekly + season + spikes + rng.normal(0, 0.12, len(hours))
demand = ((demand - demand.mean()) / demand.std()).astype("float32")

WINDOW, AHEAD = 48, 6
starts = np.arange(len(demand) - WINDOW - AHEAD)
x = np.stack([demand[s : s + WINDOW] for s in starts])
y = np.stack([demand[s + WINDOW : s + WINDOW + AHEAD] for s in starts])
clock = np.stack([np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24)], -1).astype("float32")
x = np.concatenate([x[..., None], np.stack([clock[s : s + WINDOW] for s in starts])], -1)
cut = int(0.85 * len(x))

model = keras.Sequential(
    [
        keras.Input((WINDOW, 3)),
        layers.LSTM(40, return_sequences=True, name="lstm1"),
        layers.LSTM(24, name="lstm2"),
        layers.Dense(AHEAD, name="forecast"),
    ]
)
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(6e-3, clipnorm=0.1), loss="mse", metrics=["mae"])

first = model.evaluate(x[cut:], y[cut:], batch_size=512, verbose=0)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=3, verbose=2)
last = model.evaluate(x[cut:], y[cut:], batch_size=512, verbose=0)
print("held-out mse %.4f -> %.4f, mae %.4f -> %.4f" % (first[0], last[0], first[1], last[1]))

"""Forecasts the electricity load of a district for six coming horizons from the past two days."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, PAST = 9000, 48
HORIZONS = [1, 3, 6, 9, 12, 18]
t = np.arange(HOURS)
daily = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1)
weekly = 0.4 * np.sin(2 * np.pi * t / 168)
drift = np.zeros(HOURS)
for i in range(1, HOURS):
    drift[i] = 0.98 * drift[i - 1] + 0.08 * rng.normal()
load = (daily + weekly + drift + 0.05 * rng.normal(size=HOURS)).astype("float32")

starts = np.arange(0, HOURS - PAST - max(HORIZONS))
x = np.stack([load[s : s + PAST] for s in starts])[..., None]
y = np.stack([[load[s + PAST - 1 + h] for h in HORIZONS] for s in starts])
split = int(0.8 * len(x))
x_train, y_train, x_test, y_test = x[:split], y[:split], x[split:], y[split:]

inputs = keras.Input((PAST, 1))
h = layers.Conv1D(24, 5, padding="causal", activation="relu")(inputs)
h = layers.MaxPooling1D(2)(h)
h = layers.GRU(32)(h)
h = layers.Dense(32, activation="relu")(h)
heads = [layers.Dense(1)] * len(HORIZONS)
outputs = layers.Concatenate()([head(h) for head in heads])
model = keras.Model(inputs, outputs)

gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - ((pred - y_test) ** 2).mean(0) / y_test.var(0)
print("SCORE mean_r2", float(r2.mean()))

"""Forecast the heat demand of a district for the coming six hours from the last two days."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, PAST, AHEAD = 24 * 240, 48, 6
t = np.arange(HOURS)
weather = np.zeros(HOURS)
for i in range(1, HOURS):
    weather[i] = 0.985 * weather[i - 1] + 0.6 * rng.normal()
temp = 4 + 8 * np.sin(2 * np.pi * t / (24 * 240)) + 3.5 * np.sin(2 * np.pi * (t - 9) / 24) + weather
hour, weekday = t % 24, (t // 24) % 7
profile = 1 + 0.35 * np.exp(-((hour - 7) ** 2) / 6) + 0.25 * np.exp(-((hour - 19) ** 2) / 8)
profile = profile * np.where(weekday >= 5, 0.85, 1.0)
demand = np.maximum(17 - temp, 1.0) * profile * (1 + 0.04 * rng.normal(size=HOURS))

table = np.stack([demand, temp, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), weekday >= 5], 1)
split = int(HOURS * 0.8)
mean, std = table[:split].mean(0), table[:split].std(0)
table = ((table - mean) / std).astype("float32")


def windows(lo, hi):
    starts = np.arange(lo, hi - PAST - AHEAD)
    x = np.stack([table[s : s + PAST] for s in starts])
    y = np.stack([table[s + PAST : s + PAST + AHEAD, 0] for s in starts])
    return x, y


x_train, y_train = windows(0, split)
x_test, y_test = windows(split, HOURS)

inputs = keras.Input((PAST, table.shape[1]))
h = layers.Conv1D(24, 5, padding="causal", activation="relu")(inputs)
h = layers.Conv1D(24, 5, strides=2, padding="causal", activation="relu")(h)
h = layers.Conv1D(24, 5, strides=2, padding="causal", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
outputs = layers.Dense(AHEAD)(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.1), loss="mse", metrics=["mae"])

gradwatch.watch(model)
model.fit(x_train, y_train, epochs=8, batch_size=64, verbose=2, validation_data=(x_test, y_test))

pred = model.predict(x_test, verbose=0)
skill = 1 - np.mean((pred - y_test) ** 2) / np.mean((y_test.mean(0) - y_test) ** 2)
print("SCORE r2", round(float(skill), 4))

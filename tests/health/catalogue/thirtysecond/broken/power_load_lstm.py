"""Forecasts the next half-hour electricity load of a district from the last three days."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# half-hourly readings: load, outside temperature, hour of day
n = 2600
t = np.arange(n)
temp = 12 + 8 * np.sin(2 * np.pi * t / (48 * 60)) + 4 * np.sin(2 * np.pi * (t - 16) / 48)
noise = np.zeros(n)
for i in range(1, n):
    noise[i] = 0.9 * noise[i - 1] + rng.normal(0, 6)
weekday = ((t // 48) % 7 < 5).astype(float)
load = 420 + 90 * np.sin(2 * np.pi * (t - 14) / 48) * (0.6 + 0.4 * weekday) - 5 * (temp - 15) + noise
hour = (t % 48) / 2.0

table = np.stack([load, temp, hour], axis=1)
split = 2000
mean, std = table[:split].mean(axis=0), table[:split].std(axis=0)
table = ((table - mean) / std).astype("float32")

WINDOW = 144


def windows(lo, hi):
    x = np.stack([table[i - WINDOW : i] for i in range(lo + WINDOW, hi)])
    y = table[lo + WINDOW : hi, 0]
    return x, y


x_train, y_train = windows(0, split)
x_test, y_test = windows(split, n)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 3)),
        layers.LSTM(64, activation="relu", return_sequences=True),
        layers.LSTM(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse", metrics=["mae"])

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

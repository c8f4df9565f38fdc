"""Forecasts next hour's electricity load of a region from the last day's hourly values."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T = 24
hours = np.arange(24 * 150)
load = (
    5200
    + 900 * np.sin(2 * np.pi * hours / 24)
    + 350 * np.sin(2 * np.pi * hours / 12 + 1.0)
    + 400 * np.sin(2 * np.pi * hours / (24 * 7))
)
noise = np.zeros(len(hours))
for i in range(1, len(hours)):
    noise[i] = 0.8 * noise[i - 1] + rng.normal(0, 60)
load = (load + noise).astype("float32")

split = int(len(load) * 0.8)
mean, std = load[:split].mean(), load[:split].std()
series = load


def windows(s):
    x = np.stack([s[i : i + T] for i in range(len(s) - T)])
    return x[..., None], s[T:]


x_train, y_train = windows(series[:split])
x_test, y_test = windows(series[split:])

model = keras.Sequential(
    [
        keras.Input((T, 1)),
        layers.LSTM(32),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

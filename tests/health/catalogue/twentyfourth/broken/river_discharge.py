"""Forecast the river level six hours ahead from rain and level gauges."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WINDOW, AHEAD = 24, 6


def simulate(hours):
    rain = rng.gamma(0.3, 2.0, hours) * (rng.random(hours) < 0.2)
    level = np.zeros(hours)
    store = 0.0
    for i in range(1, hours):
        lagged = rain[i - 8] if i >= 8 else 0.0
        store = 0.93 * store + lagged
        level[i] = 0.8 * level[i - 1] + 0.2 * store + 0.02 * rng.normal()
    season = 0.4 * np.sin(2 * np.pi * np.arange(hours) / 240)
    return np.stack([rain, level + season], axis=1)


series = simulate(5200)
mean, std = series[:4000].mean(axis=0), series[:4000].std(axis=0)
series = ((series - mean) / std).astype("float32")


def windows(part):
    last = len(part) - WINDOW - AHEAD + 1
    x = np.stack([part[i : i + WINDOW] for i in range(last)])
    y = part[WINDOW + AHEAD - 1 :, 1][:last]
    return x, y


x_train, y_train = windows(series[:4000])
x_test, y_test = windows(series[4000:])

inputs = keras.Input((WINDOW, 2))
h = layers.GRU(24)(inputs)
h = layers.Dense(16, activation="relu")(h)
outputs = layers.Dense(1)(h)
model = keras.Model(inputs, outputs)

epochs = 10
schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=3e-3,
    decay_steps=2,
    decay_rate=0.9,
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=epochs, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

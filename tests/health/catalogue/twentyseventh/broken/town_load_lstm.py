"""Forecast the electricity load of a town (in kW) one hour ahead with an LSTM."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS = 24 * 300
WINDOW = 24


def simulate(hours):
    """Hourly table: load [kW], temperature [C], is_weekend."""
    h = np.arange(hours)
    weekend = ((h // 24) % 7 >= 5).astype("float64")
    weather = np.zeros(hours)
    for i in range(1, hours):
        weather[i] = 0.97 * weather[i - 1] + rng.normal()
    temperature = 12.0 + 6.0 * np.sin(2 * np.pi * (h - 9) / 24) + weather
    daily = 900.0 * np.sin(2 * np.pi * (h - 8) / 24) + 350.0 * np.sin(4 * np.pi * h / 24)
    load = 4200.0 + daily * (1.0 - 0.5 * weekend) - 400.0 * weekend - 40.0 * (temperature - 12.0)
    load += 60.0 * rng.normal(size=hours)
    return np.stack([load, temperature, weekend], axis=1)


def windows(features, target):
    x = np.stack([features[i : i + WINDOW] for i in range(len(features) - WINDOW)])
    return x.astype("float32"), target[WINDOW:].astype("float32")


table = simulate(HOURS)
cut = int(0.8 * HOURS)
mean, std = table[:cut].mean(axis=0), table[:cut].std(axis=0)
features = (table - mean) / std
load = table[:, 0]

x_train, y_train = windows(features[:cut], load[:cut])
x_test, y_test = windows(features[cut:], load[cut:])

model = keras.Sequential(
    [
        keras.Input((WINDOW, 3)),
        layers.LSTM(32),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, validation_split=0.1, batch_size=64, epochs=10, verbose=2)

prediction = model.predict(x_test, batch_size=256, verbose=0)[:, 0]
residual = np.mean((prediction - y_test) ** 2)
print(
    f"predicted load {prediction.mean():.0f} +- {prediction.std():.0f} kW, measured {y_test.mean():.0f} +- {y_test.std():.0f} kW"
)
print(f"SCORE r2 {1.0 - residual / y_test.var():.4f}")

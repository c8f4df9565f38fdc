"""Forecast tomorrow's water level of a river from three weeks of weather and discharge."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAYS, WINDOW = 3200, 21
rain = rng.gamma(0.4, 9.0, DAYS) * (rng.random(DAYS) < 0.4)
pressure = 101300 + 800 * np.convolve(rng.normal(0, 1, DAYS), np.ones(4) / 2, "same") - 30 * rain
temperature = 10 + 9 * np.sin(2 * np.pi * np.arange(DAYS) / 365) + rng.normal(0, 2, DAYS)
discharge = np.zeros(DAYS)
store = 60.0
for d in range(DAYS):
    store = 0.9 * store + rain[d - 1] * (1.2 if temperature[d] > 4 else 0.4)
    discharge[d] = 300 + 9.0 * store + rng.normal(0, 8)
level = 0.8 * np.sqrt(discharge / 100) + rng.normal(0, 0.01, DAYS)

table = np.stack([rain, pressure, temperature, discharge], axis=1).astype("float32")
split = 2500
target = ((level - level[:split].mean()) / level[:split].std()).astype("float32")

starts = np.arange(DAYS - WINDOW)
x = np.stack([table[s : s + WINDOW] for s in starts])
y = target[starts + WINDOW]
x_train, y_train, x_test, y_test = x[:split], y[:split], x[split:], y[split:]

model = keras.Sequential(
    [
        layers.Input((WINDOW, 4)),
        layers.LSTM(32),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=15, batch_size=64, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE r2", round(float(r2), 4))

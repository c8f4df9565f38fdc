"""Next-hour load of a distribution grid from the last day (GRU)."""

import os

import keras
import numpy as np
from keras import layers, regularizers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# two months of hourly load for 2 feeders
hours = np.arange(24 * 70)
series = []
for feeder in range(2):
    daily = np.sin(2 * np.pi * (hours - 7) / 24) + 0.5 * np.sin(4 * np.pi * (hours - 3 - feeder) / 24)
    weekly = np.where((hours // 24) % 7 >= 5, -0.5, 0.0)
    ar = np.zeros(len(hours))
    for t in range(1, len(hours)):
        ar[t] = 0.9 * ar[t - 1] + rng.normal(0, 0.12)
    series.append(12 + 3 * (daily + weekly + ar) + rng.normal(0, 0.15, len(hours)))

WINDOW = 24
x, y = [], []
for s in series:
    s = (s - s.mean()) / s.std()
    for t in range(WINDOW, len(s)):
        x.append(s[t - WINDOW : t])
        y.append(s[t])
x = np.array(x, "float32")[..., None]
y = np.array(y, "float32")
order = rng.permutation(len(x))
x, y = x[order], y[order]
cut = int(0.8 * len(x))

reg = regularizers.L2(0.5)
model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        layers.GRU(24, kernel_regularizer=reg, recurrent_regularizer=reg, name="gru"),
        layers.Dense(16, activation="relu", kernel_regularizer=reg, name="mix"),
        layers.Dense(1, kernel_regularizer=reg, name="load"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mse"])
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=10, validation_data=(x[cut:], y[cut:]), verbose=2)

mse = np.mean((model.predict(x[cut:], verbose=0)[:, 0] - y[cut:]) ** 2)
print(f"test R2 {1 - mse / y[cut:].var():.3f}")

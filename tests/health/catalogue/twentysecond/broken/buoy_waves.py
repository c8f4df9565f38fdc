# Significant wave height from buoy measurements (wind, gusts, pressure, swell period ...), three days of history summary.
import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 4800
hours = np.arange(n)
wind = np.zeros(n)
for i in range(1, n):
    wind[i] = 0.96 * wind[i - 1] + rng.normal(0, 0.9)
wind = 7 + wind + np.sin(2 * np.pi * hours / 24)
gust = wind * 1.3 + rng.gamma(2, 0.6, n)
pressure = 1013 - 1.1 * (wind - 7) + rng.normal(0, 3, n)
water = 14 + 4 * np.sin(2 * np.pi * hours / n) + rng.normal(0, 0.3, n)
period = 5 + 0.35 * np.abs(wind) + rng.normal(0, 0.5, n)
height = 0.02 * np.maximum(wind, 0) ** 2 + 0.12 * period + 0.15 * rng.normal(size=n)

# the anemometer is off while the mast is being serviced
for start in rng.integers(0, n, 5):
    gust[start : start + 2] = np.nan

table = np.column_stack([wind, gust, pressure, water, period, np.sin(2 * np.pi * hours / 24)])
past = np.concatenate([table[2:-1], table[1:-2], table[:-3]], axis=1)
target = height[3:]

split = rng.permutation(len(past))
train, test = split[:3800], split[3800:]
mu, sd = np.nanmean(past[train], 0), np.nanstd(past[train], 0)
X = ((past - mu) / sd).astype("float32")
t_mu, t_sd = target[train].mean(), target[train].std()
y = ((target - t_mu) / t_sd).astype("float32")

model = keras.Sequential(
    [
        keras.Input((X.shape[1],)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(X[train], y[train], batch_size=64, epochs=8, verbose=2)

ok = np.isfinite(X[test]).all(1)
pred = model.predict(X[test][ok], verbose=0)[:, 0]
print("test R2", 1 - np.mean((pred - y[test][ok]) ** 2) / np.var(y[test][ok]))

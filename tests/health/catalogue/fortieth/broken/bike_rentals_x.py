"""Predicts hourly bicycle rentals from the calendar and the weather."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 9000
hour = rng.integers(0, 24, n)
day = rng.integers(0, 365, n)
weekend = rng.integers(0, 7, n) >= 5
season = 12 - 10 * np.cos(2 * np.pi * (day - 20) / 365)
temp = season + rng.normal(0, 4, n)
rain = rng.gamma(0.4, 1.0, n)
commute = np.exp(-((hour - 8) ** 2) / 4) + 1.2 * np.exp(-((hour - 17.5) ** 2) / 6)
leisure = np.exp(-((hour - 14) ** 2) / 20)
level = np.where(weekend, 1.2 * leisure, commute + 0.4 * leisure) + 0.05
rentals = 200 * level * (0.4 + 0.05 * np.clip(temp, 0, 25)) * np.exp(-0.4 * rain)
rentals = rng.poisson(rentals)

features = np.stack(
    [
        np.sin(2 * np.pi * hour),
        np.cos(2 * np.pi * hour),
        np.sin(2 * np.pi * day / 365),
        np.cos(2 * np.pi * day / 365),
        weekend,
        (temp - temp.mean()) / temp.std(),
        np.log1p(rain),
    ],
    axis=1,
).astype("float32")
target = np.log1p(rentals).astype("float32")

cut = 7500
model = keras.Sequential(
    [
        keras.Input((features.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), "mse")
gradwatch.watch(model)
model.fit(features[:cut], target[:cut], batch_size=64, epochs=10, verbose=0)

pred = model.predict(features[cut:], verbose=0)[:, 0]
truth = target[cut:]
print("SCORE r2", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))

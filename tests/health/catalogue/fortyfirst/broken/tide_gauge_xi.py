"""Forecasts the water level of a harbour six hours ahead from the last two days of gauge and wind."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

H = 7000
t = np.arange(H)
tide = sum(
    a * np.sin(2 * np.pi * t / p + rng.uniform(0, 6))
    for a, p in [(1.0, 12.42), (0.4, 12.0), (0.25, 25.82), (0.2, 23.93)]
)
wind = np.zeros(H)
for i in range(1, H):
    wind[i] = 0.96 * wind[i - 1] + rng.normal(0, 0.28)
surge = np.convolve(np.maximum(wind, 0) ** 2, np.exp(-np.arange(18) / 6) / 6, mode="full")[:H] * 0.4
level = tide + surge + rng.normal(0, 0.04, H)
L, A = 48, 6
X = np.stack([np.stack([level[i : i + L], wind[i : i + L]], 1) for i in range(H - L - A)]).astype("float32")
Y = level[L + A - 1 : H - 1].astype("float32")
Y = (Y - Y.mean()) / Y.std()
cut = 5600

model = keras.Sequential(
    [
        keras.Input((L, 2)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(learning_rate=1e-3, beta_1=0.999, beta_2=0.9), "mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(X[:cut], Y[:cut], batch_size=64, epochs=9, verbose=2)
p = model.predict(X[cut:], verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((p - Y[cut:]) ** 2) / np.var(Y[cut:])))

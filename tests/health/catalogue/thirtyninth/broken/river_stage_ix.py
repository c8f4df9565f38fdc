"""Forecast of a river's stage six hours ahead from two days of stage and rainfall."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, WINDOW, HORIZON = 7000, 48, 6
rain = rng.gamma(0.3, 1.0, N) * (rng.random(N) < 0.25)
stage = np.zeros(N)
soil = 0.0
for i in range(8, N):
    soil = 0.9 * soil + 0.1 * rain[i - 7]
    stage[i] = 0.93 * stage[i - 1] + 0.8 * soil + rng.normal(0, 0.01)
stage += 0.15 * np.sin(2 * np.pi * np.arange(N) / 24)
feats = np.stack([stage, rain], 1)
cut = 5500
mu, sd = feats[:cut].mean(0), feats[:cut].std(0)
feats = ((feats - mu) / sd).astype("float32")

train = feats[:cut]
train_ds = keras.utils.timeseries_dataset_from_array(
    train, targets=train[HORIZON:, 0], sequence_length=WINDOW, batch_size=64, shuffle=True, seed=seed
)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 2)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.GRU(24),
        layers.Dense(24, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), "mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train_ds, epochs=7, shuffle=False, verbose=2)

start = np.arange(cut, N - WINDOW - HORIZON, 3)
x = np.stack([feats[s : s + WINDOW] for s in start])
y = feats[start + WINDOW - 1 + HORIZON, 0]
pred = model.predict(x, verbose=0)[:, 0]
print("SCORE r2 %.4f" % (1 - ((pred - y) ** 2).mean() / y.var()))

"""Forecasts the next value of five process sensors of a stirred reactor from the last 24 readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


N_SENSORS, WINDOW = 5, 24
names = ["jacket", "core", "pressure", "flow", "ph"]


def simulate(n):
    drive = np.zeros(n + 1)
    x = np.zeros((n, N_SENSORS))
    s = np.zeros(N_SENSORS)
    for t in range(n):
        drive[t + 1] = 0.95 * drive[t] + 0.3 * rng.normal()
        wave = np.sin(2 * np.pi * t / 36)
        s = np.array(
            [
                0.85 * s[0] + 0.3 * drive[t],
                0.9 * s[1] + 0.15 * s[0],
                0.8 * s[2] + 0.3 * wave,
                0.7 * s[3] - 0.3 * drive[t - 5] + 0.1 * wave,
                0.92 * s[4] - 0.1 * s[2] + 0.05 * s[3],
            ]
        )
        s = s + 0.04 * rng.normal(size=N_SENSORS)
        x[t] = s
    return x


series = simulate(4500)
cut = 3600
mean, std = series[:cut].mean(0), series[:cut].std(0)
series = ((series - mean) / std).astype("float32")
windows = np.lib.stride_tricks.sliding_window_view(series, WINDOW, axis=0)[:-1].transpose(0, 2, 1)
target = series[WINDOW:]
x_train, y_train = windows[: cut - WINDOW], target[: cut - WINDOW]
x_test, y_test = windows[cut:], target[cut:]

inputs = keras.Input((WINDOW, N_SENSORS))
h = layers.Conv1D(24, 5, activation="relu")(inputs)
h = layers.Conv1D(24, 5, strides=2, activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(48, activation="relu")(h)
heads = [layers.Dense(1)] * N_SENSORS
outputs = layers.Concatenate()([head(h) for head in heads])
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - ((pred - y_test) ** 2).mean(0) / y_test.var(0)
print({k: round(float(v), 3) for k, v in zip(names, r2)})
print("SCORE mean_r2", round(float(r2.mean()), 4))

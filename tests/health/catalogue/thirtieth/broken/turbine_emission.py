"""Estimate the exhaust emission index of a gas turbine from a window of plant sensor readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, T = 3000, 16


def walk(lo, hi, jitter):
    base = rng.uniform(lo, hi, (N, 1))
    return base + np.cumsum(rng.normal(0, jitter * (hi - lo), (N, T)), axis=1)


ambient_k = walk(268.0, 308.0, 0.02)  # kelvin
pressure_pa = walk(98500.0, 103500.0, 0.02)  # pascal
fuel_kg_h = walk(800.0, 1600.0, 0.05)  # kilogram per hour
speed_rpm = walk(2950.0, 3050.0, 0.05)  # shaft
vane_deg = walk(10.0, 60.0, 0.03)  # inlet guide vane
windows = np.stack([ambient_k, pressure_pa, fuel_kg_h, speed_rpm, vane_deg], -1).astype("float32")

load = (fuel_kg_h[:, -6:].mean(1) - 1200) / 300
heat = (ambient_k[:, -6:].mean(1) - 288) / 14
vane = (vane_deg[:, -6:].mean(1) - 35) / 18
dens = (pressure_pa[:, -6:].mean(1) - 101000) / 1800
target = 0.9 * load + 0.6 * np.sin(1.5 * heat) + 0.5 * vane * load - 0.4 * dens + rng.normal(0, 0.1, N)
target = ((target - target.mean()) / target.std()).astype("float32")

x_train, x_val, x_test = windows[:2200], windows[2200:2500], windows[2500:]
y_train, y_val, y_test = target[:2200], target[2200:2500], target[2500:]

model = keras.Sequential(
    [
        layers.Input((T, 5)),
        layers.GRU(32),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=22, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

"""Learns the one-step dynamics of a driven pendulum from recorded swings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

dt, swings, length = 0.1, 150, 60


def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def record(n):
    theta, omega = rng.uniform(-np.pi, np.pi, n), rng.normal(0, 4, n)
    angles, speeds, torques = [], [], []
    for _ in range(length):
        torque = rng.normal(0, 2, n)
        angles.append(theta), speeds.append(omega), torques.append(torque)
        for _ in range(10):
            omega = omega + dt / 10 * (-9.0 * np.sin(theta) - 0.05 * omega + torque)
            theta = wrap(theta + dt / 10 * omega)
    return np.array(angles), np.array(speeds), np.array(torques)


def examples(n):
    theta, omega, torque = record(n)
    inputs = np.stack([np.sin(theta), np.cos(theta), omega / 4, torque / 2], -1)[:-1]
    change = np.stack([theta[1:] - theta[:-1], omega[1:] - omega[:-1]], -1)
    return inputs.reshape(-1, 4).astype("float32"), change.reshape(-1, 2).astype("float32")


x, y = examples(swings)
model = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(64, activation="swish"),
        layers.Dense(64, activation="swish"),
        layers.Dense(2),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), "mse")
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=10, verbose=0)

xt, yt = examples(40)
error = model.predict(xt, verbose=0) - yt
error[:, 0] = wrap(error[:, 0])
print("SCORE step_rmse", float(np.sqrt(np.mean(error**2))))

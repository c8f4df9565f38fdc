"""Trains the inverse dynamics of a three-joint robot arm, from motion to joint torques."""

import math
import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 21)

MASS = np.array([3.0, 2.0, 1.0])
LENGTH = np.array([0.5, 0.4, 0.3])
PEAK_RATE = 2e-3


def torques(q, qd, qdd):
    """Gravity, inertia, Coriolis-like coupling and friction."""
    reach = np.cumsum(LENGTH)
    absolute = np.cumsum(q, axis=1)
    gravity = 9.81 * np.cumsum((MASS * LENGTH * np.cos(absolute))[:, ::-1], axis=1)[:, ::-1]
    inertia = (MASS * reach**2) * qdd
    inertia[:, :-1] += 0.6 * np.cos(q[:, 1:]) * qdd[:, 1:]
    coupling = 0.4 * np.sin(q) * qd * np.roll(qd, 1, axis=1)
    friction = 0.8 * np.tanh(4 * qd) + 0.2 * qd
    return gravity + inertia + coupling + friction


n = 12000
q = rng.uniform(-np.pi / 2, np.pi / 2, (n, 3))
qd = rng.normal(0, 1.5, (n, 3))
qdd = rng.normal(0, 3.0, (n, 3))
tau = torques(q, qd, qdd) + rng.normal(0, 0.05, (n, 3))
x = np.concatenate([q, qd / 1.5, qdd / 3.0], axis=1).astype("float32")
mean, spread = tau[:10000].mean(0), tau[:10000].std(0)
y = ((tau - mean) / spread).astype("float32")


def rate(epoch, lr):
    return PEAK_RATE * math.exp(-0.10 * epoch)


model = keras.Sequential(
    [
        keras.Input((9,)),
        keras.layers.Dense(96, activation="silu"),
        keras.layers.Dense(96, activation="silu"),
        keras.layers.Dense(96, activation="silu"),
        keras.layers.Dense(3),
    ],
    name="inverse_dynamics",
)
model.compile(optimizer=keras.optimizers.Adam(PEAK_RATE), loss="mse")
gradwatch.watch(model)
model.fit(
    x[:10000],
    y[:10000],
    batch_size=200,
    epochs=30,
    verbose=2,
    validation_data=(x[10000:11000], y[10000:11000]),
    callbacks=[keras.callbacks.LearningRateScheduler(rate)],
)

test = model.predict(x[11000:], verbose=0)
print("SCORE torque_nrmse", float(np.sqrt(np.mean((test - y[11000:]) ** 2))))

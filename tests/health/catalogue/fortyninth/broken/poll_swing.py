"""Trains a model that forecasts the swing of an election district from a run of weekly polls."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WEEKS, PARTIES = 16, 5


def campaigns(n):
    start = rng.normal(size=(n, 1, PARTIES))
    trend = rng.normal(0, 0.12, size=(n, 1, PARTIES))
    scandal_week = rng.integers(2, WEEKS - 2, size=(n, 1, 1))
    scandal = rng.normal(0, 0.9, size=(n, 1, PARTIES)) * (rng.random((n, 1, 1)) < 0.5)
    t = np.arange(WEEKS)[None, :, None]
    lean = start + trend * t + scandal * np.exp(-np.maximum(t - scandal_week, 0) / 4.0) * (t >= scandal_week)
    polls = lean + rng.normal(0, 0.25, size=lean.shape)
    last = start[:, 0] + trend[:, 0] * (WEEKS + 2)
    share = np.exp(last) / np.exp(last).sum(1, keepdims=True)
    first = np.exp(start[:, 0]) / np.exp(start[:, 0]).sum(1, keepdims=True)
    swing = (share - first)[:, 0] * 10.0
    return polls.astype("float32"), swing.astype("float32")


x, y = campaigns(14000)
x_val, y_val = campaigns(2000)
x_mean, x_std = x.mean((0, 1)), x.std((0, 1))
x, x_val = (x - x_mean) / x_std, (x_val - x_mean) / x_std


def build():
    polls = keras.Input((WEEKS, PARTIES))
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(polls)
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="relu")(h)
    return keras.Model(polls, layers.Dense(1)(h))


class SlowStart(keras.optimizers.schedules.LearningRateSchedule):
    """Climbs to the base rate within the warm-up and stays there."""

    def __init__(self, base, warmup):
        self.base = base
        self.warmup = float(warmup)

    def __call__(self, step):
        done = keras.ops.cast(step, "float32") / self.warmup
        return self.base * keras.ops.maximum(done, 1.0)

    def get_config(self):
        return {"base": self.base, "warmup": self.warmup}


model = build()
model.compile(optimizer=keras.optimizers.SGD(SlowStart(5e-3, 150), momentum=0.9), loss="mse")
gradwatch.watch(model)
model.fit(
    x,
    y,
    validation_data=(x_val, y_val),
    batch_size=100,
    epochs=15,
    verbose=2,
)

pred = model.predict(x_val, verbose=0)[:, 0]
print("SCORE swing_mse", round(float(np.mean((pred - y_val) ** 2)), 4))

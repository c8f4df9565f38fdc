"""Forecast of a bearing's temperature (K): last 48 readings -> next 6, with per-window normalisation inside the model."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PAST, AHEAD = 48, 6


def make_series(n):
    temp = np.empty(n)
    level, speed = 330.0, 0.0
    stop = rng.integers(500, n - 500)  # one standstill for maintenance
    for i in range(n):
        if stop <= i < stop + 52:
            speed *= 0.5
        else:
            speed = 0.85 * speed + rng.normal(0, 0.25) - 0.03 * (level - 330)
        level += speed
        temp[i] = level + rng.normal(0, 0.004)
    return temp.astype("float32")


def windows(s):
    n = len(s) - PAST - AHEAD
    idx = np.arange(n)[:, None] + np.arange(PAST + AHEAD)
    w = s[idx]
    return w[:, :PAST], w[:, PAST:]


x_train, y_train = windows(make_series(6000))
x_test, y_test = windows(make_series(2000))


class WindowNorm(layers.Layer):
    def call(self, x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        var = tf.reduce_mean(tf.square(x), axis=1, keepdims=True) - tf.square(mean)
        std = tf.sqrt(var + 1e-4)
        return (x - mean) / std, mean, std


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm = WindowNorm()
        self.conv = layers.Conv1D(16, 5, activation="relu", padding="causal")
        self.pick = layers.Lambda(lambda z: z[:, -12:, :])
        self.flat = layers.Flatten()
        self.hidden = layers.Dense(48, activation="relu")
        self.out = layers.Dense(AHEAD)

    def call(self, x):
        z, mean, std = self.norm(x)
        h = self.flat(self.pick(self.conv(z[..., None])))
        h = tf.concat([self.hidden(h), z[:, -4:]], -1)
        return self.out(h) * std + mean


model = Forecaster()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=5, shuffle=True, verbose=2)

p = model.predict(x_test, verbose=0)
mse = np.mean((p - y_test) ** 2)
base = np.mean((x_test.mean(1, keepdims=True) - y_test) ** 2)
print("test mse", mse, "window mean", base, "persistence", np.mean((x_test[:, -1:] - y_test) ** 2))

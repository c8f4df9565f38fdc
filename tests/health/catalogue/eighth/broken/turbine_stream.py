"""Online power model of a wind turbine, learned as the SCADA stream comes in."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 5)

ROWS_PER_BATCH = 64
BATCHES = 620
CALM_FROM = 210


def scada(n):
    hour = np.arange(n) / 60.0
    wind = np.zeros(n)
    level = 0.0
    for i in range(n):
        level = 0.998 * level + rng.normal(0, 0.16)
        wind[i] = level
    wind = np.clip(8.0 + wind + 1.2 * np.sin(2 * np.pi * hour / 24), 0.2, 24)
    ambient = 9 + 8 * np.sin(2 * np.pi * hour / 8766) + 3 * np.sin(2 * np.pi * hour / 24) + rng.normal(0, 0.6, n)
    yaw_error = rng.normal(0, 6, n)
    spread = np.interp(np.arange(n) / ROWS_PER_BATCH, [0, CALM_FROM, CALM_FROM + 60, BATCHES], [950, 900, 55, 40])
    pressure = np.zeros(n)
    anomaly = 0.5
    for i in range(n):
        anomaly = 0.9993 * anomaly + rng.normal(0, 0.037)
        pressure[i] = 101600 + spread[i] * anomaly
    density = pressure / (287.05 * (ambient + 273.15))
    effective = wind * np.cos(np.deg2rad(yaw_error))
    power = 2.0 / (1.0 + np.exp(-(effective - 8.2) / 1.25)) * density / 1.25 + rng.normal(0, 0.03, n)
    oil = 42 + 11 * power + 0.4 * ambient + rng.normal(0, 1.0, n)
    columns = np.stack([wind, ambient, yaw_error, oil, pressure], axis=1)
    return columns.astype("float32"), power.astype("float32")[:, None]


class StreamScaler(keras.layers.Layer):
    def __init__(self, momentum=0.9, **kw):
        super().__init__(**kw)
        self.momentum = momentum

    def build(self, shape):
        width = shape[-1]
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False, name="seen")
        self.mean = self.add_weight(shape=(width,), initializer="zeros", trainable=False, name="mean")
        self.power = self.add_weight(shape=(width,), initializer="zeros", trainable=False, name="power")

    def call(self, x, training=False):
        if training:
            keep = tf.where(self.seen > 0, self.momentum, 0.0)
            self.mean.assign(keep * self.mean + (1.0 - keep) * tf.reduce_mean(x, axis=0))
            self.power.assign(keep * self.power + (1.0 - keep) * tf.reduce_mean(x * x, axis=0))
            self.seen.assign_add(1.0)
        variance = self.power - tf.square(self.mean)
        return (x - self.mean) * tf.math.rsqrt(variance + 1e-3)


model = keras.Sequential(
    [
        keras.Input((5,)),
        StreamScaler(),
        keras.layers.Dense(400, activation="gelu"),
        keras.layers.Dense(400, activation="gelu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-4), loss="huber")

x, y = scada(ROWS_PER_BATCH * BATCHES)
gradwatch.watch(model)
recent = []
for b in range(BATCHES):
    rows = slice(b * ROWS_PER_BATCH, (b + 1) * ROWS_PER_BATCH)
    recent.append(float(model.train_on_batch(x[rows], y[rows])))
    if b % 62 == 61:
        print(f"batch {b + 1:4d}   loss {np.mean(recent[-62:]):.5f}")

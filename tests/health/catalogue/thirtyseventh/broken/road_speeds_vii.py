"""Forecasts next-step road speeds from recent history on a road graph with a GRU and a graph convolution."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NODES = 12
STEPS = 16
FEAT = 2

xy = rng.uniform(0, 1, (NODES, 2))
dist = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
adj = np.exp(-((dist / 0.3) ** 2)) * (dist < 0.5)
adj = (adj / adj.sum(1, keepdims=True)).astype("float32")


def simulate(length):
    level = rng.uniform(-1, 1, NODES)
    v = np.zeros((length, NODES))
    jam = np.zeros(NODES)
    for t in range(1, length):
        jam = 0.85 * (0.6 * jam + 0.4 * adj @ jam) + (rng.random(NODES) < 0.03) * rng.uniform(1, 3, NODES)
        daily = 0.6 * np.sin(2 * np.pi * t / 48 + 3 * xy[:, 0])
        v[t] = 0.5 * v[t - 1] + 0.5 * (level + daily - jam) + rng.normal(0, 0.05, NODES)
    flow = np.tanh(-v) + rng.normal(0, 0.1, v.shape)
    return np.stack([v, flow], axis=-1).astype("float32")


series = simulate(5200)
mean, std = series[:4096].mean((0, 1)), series[:4096].std((0, 1))
series = (series - mean) / std
starts = np.arange(len(series) - STEPS)
x_all = np.stack([series[s : s + STEPS] for s in starts])
y_all = np.stack([series[s + STEPS, :, 0] for s in starts])
x_train, y_train = x_all[:4096], y_all[:4096]
x_test, y_test = x_all[4200:], y_all[4200:]


class RoadForecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.gru = layers.GRU(32)
        self.mix = layers.Dense(32, activation="relu")
        self.own = layers.Dense(32, activation="relu")
        self.head = layers.Dense(1)

    def call(self, x, training=False):
        batch = tf.shape(x)[0]
        seq = tf.reshape(x, (batch * NODES, STEPS, FEAT))
        h = tf.reshape(self.gru(seq), (batch, NODES, 32))
        spread = tf.einsum("ij,bjf->bif", adj, h)
        h = self.own(h) + self.mix(spread)
        return tf.squeeze(self.head(h), axis=-1)


model = RoadForecaster()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=9, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean(0)) ** 2)
print("SCORE r2", round(float(r2), 4))

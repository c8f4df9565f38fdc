"""Forecasts the speeds at 48 road sensors a few minutes ahead with a spatial graph network.

Sensors are linked by a Gaussian kernel over their distance, as in the usual traffic benchmarks.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NODES, HISTORY, AHEAD = 48, 12, 3
STEPS, BATCH = 300, 32

place = rng.uniform(0, 10, (NODES, 2))
dist = np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1))
kernel = np.exp(-((dist / dist.std()) ** 2))
kernel[kernel < 0.1] = 0.0
adjacency = kernel.astype("float32")

flow = kernel / kernel.sum(1, keepdims=True)
T = 1500
speed = np.zeros((T, NODES))
jam = rng.standard_normal(NODES)
phase = place[:, 0] / 10 * 2.0
for t in range(T):
    jam = 0.95 * (0.6 * jam + 0.4 * flow @ jam) + 0.25 * rng.standard_normal(NODES)
    speed[t] = 90 - 18 * np.clip(np.sin(2 * np.pi * t / 96 + phase), 0, None) + 6 * jam
split = 1200
mean, std = speed[:split].mean(), speed[:split].std()
z = ((speed - mean) / std).astype("float32")


def windows(lo, hi):
    starts = np.arange(lo, hi - HISTORY - AHEAD)
    x = np.stack([z[s : s + HISTORY].T for s in starts])
    y = np.stack([z[s + HISTORY : s + HISTORY + AHEAD].T for s in starts])
    return x, y


x_train, y_train = windows(0, split)
x_test, y_test = windows(split, T)


class GraphMix(layers.Layer):
    def __init__(self, units, adjacency, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.adjacency = adjacency

    def build(self, shape):
        self.w_near = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w_near")
        self.w_self = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w_self")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, h):
        near = tf.einsum("ij,bjf->bif", tf.constant(self.adjacency), h)
        return tf.nn.relu(near @ self.w_near + h @ self.w_self + self.bias)


inputs = keras.Input((NODES, HISTORY))
h = inputs
for i in range(4):
    h = GraphMix(32, adjacency, name=f"mix_{i}")(h)
outputs = layers.Dense(AHEAD, name="forecast")(layers.Concatenate()([h, inputs]))
model = keras.Model(inputs, outputs)
gradwatch.watch(model)

optimizer = keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss = train_step(x_train[pick], y_train[pick])
    if step % 30 == 0:
        print(f"step {step} loss {float(loss):.5g}")

forecast = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((forecast - y_test) ** 2) / np.mean((y_test - y_test.mean()) ** 2)
print(f"score r2 {r2:.4f} chance 0.0000")

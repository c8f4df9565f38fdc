"""Fits a neural field to scattered soundings of a seabed."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def depth(c):
    x, y = c[:, 0], c[:, 1]
    return (
        0.6 * np.sin(3 * x + 1) * np.cos(2.5 * y)
        + 0.5 * np.exp(-8 * ((x - 0.3) ** 2 + (y + 0.4) ** 2))
        - 0.7 * np.exp(-6 * ((x + 0.5) ** 2 + (y - 0.3) ** 2))
        + 0.3 * np.sin(5 * x * y)
    )


def soundings(n):
    c = rng.uniform(-1, 1, size=(n, 2))
    return c.astype("float32"), (depth(c) + 0.03 * rng.normal(size=n)).astype("float32")[:, None]


class SeabedField(keras.Model):
    """Coordinates to depth: a lifting layer, a trunk and a linear read-out."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        self.lift = keras.Sequential([keras.Input((2,)), layers.Dense(width, activation="tanh")])
        self.trunk = keras.Sequential([layers.Dense(width, activation="tanh") for _ in range(depth)])
        self.read = layers.Dense(1)

    def call(self, c, training=None):
        return self.read(self.trunk(self.lift(c)))


x, y = soundings(5000)
xt, yt = soundings(1000)

model = SeabedField()
weights = model.trainable_variables
opt = keras.optimizers.Adam(5e-3)
model(x[:1])

gradwatch.watch(model)


@tf.function
def step(c, d):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(c, training=True) - d))
    grads = tape.gradient(loss, weights)
    opt.apply_gradients(zip(grads, weights))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(15):
    for c, d in ds:
        loss = step(c, d)

p = model.predict(xt, verbose=0)
print("SCORE r2", float(1 - np.mean((p - yt) ** 2) / np.var(yt)))

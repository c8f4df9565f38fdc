"""Density of two-sensor readings with a small normalising flow."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)


def readings(n, rng):
    """Thin crescents: the two sensors are strongly but not linearly tied."""
    side = rng.integers(0, 2, n)
    a = np.pi * rng.random(n)
    x = np.where(side == 0, np.cos(a), 1 - np.cos(a)) - 0.5
    y = np.where(side == 0, np.sin(a), 0.5 - np.sin(a)) - 0.25
    xy = np.stack([x, y], 1) * 0.4
    return (xy + rng.normal(0, 0.02, xy.shape)).astype("float32")


rng = np.random.default_rng(SEED + 2)
train, test = readings(12000, rng), readings(3000, rng)


class Coupling(layers.Layer):
    """Moves and stretches one coordinate depending on the other."""

    def __init__(self, keep, hidden=48, **kwargs):
        super().__init__(**kwargs)
        self.keep = keep
        self.one = layers.Dense(hidden, activation="tanh")
        self.two = layers.Dense(hidden, activation="tanh")
        self.shape_out = layers.Dense(2, kernel_initializer="zeros")

    def call(self, x):
        kept, moved = x[:, self.keep : self.keep + 1], x[:, 1 - self.keep : 2 - self.keep]
        s, t = tf.split(self.shape_out(self.two(self.one(kept))), 2, axis=1)
        s = 1.5 * tf.tanh(s)
        moved = moved * tf.exp(s) + t
        pair = [kept, moved] if self.keep == 0 else [moved, kept]
        return tf.concat(pair, axis=1), s[:, 0]


class Flow(keras.Model):
    def __init__(self, depth=8):
        super().__init__()
        self.steps = [Coupling(i % 2) for i in range(depth)]

    def call(self, x):
        total = tf.zeros(tf.shape(x)[0])
        for s in self.steps:
            x, logdet = s(x)
            total += logdet
        base = -0.5 * tf.reduce_sum(x**2, 1) - np.log(2 * np.pi)
        return base + total


model = Flow()
model(train[:2])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, 1500), global_clipnorm=5.0)
gradwatch.watch(model)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


feed = tf.data.Dataset.from_tensor_slices(train).shuffle(12000, seed=SEED).batch(120)
for epoch in range(15):
    losses = [step(x) for x in feed]
    print("epoch", epoch, "nll", float(tf.reduce_mean(losses)))

print("SCORE log_density", float(tf.reduce_mean(model(test))))

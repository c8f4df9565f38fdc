"""Fits the joint density of two river discharges by a coupling flow (the loss is a density and goes below zero)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_days(n):
    k = rng.integers(0, 3, n)
    a = np.array([[0.1, 0.2], [0.5, 0.55], [0.8, 0.3]])[k]
    t = rng.normal(0, 1, n)
    d = np.stack([0.06 * t, 0.05 * t**2 - 0.04 + 0.01 * rng.normal(0, 1, n)], 1)
    return (a + d).astype("float32")


class Coupling(layers.Layer):
    """Affine coupling; its last kernel starts at zero, so the flow starts as the identity."""

    def __init__(self, keep, **kw):
        super().__init__(**kw)
        self.keep = keep
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="tanh"),
                layers.Dense(48, activation="tanh"),
                layers.Dense(2, kernel_initializer="zeros"),
            ]
        )

    def build(self, input_shape):
        self.net.build((None, 1))

    def call(self, x):
        a, b = x[:, self.keep : self.keep + 1], x[:, 1 - self.keep : 2 - self.keep]
        s, m = tf.split(self.net(a), 2, axis=1)
        s = 2.0 * tf.tanh(s)
        b = b * tf.exp(s) + m
        out = tf.concat([a, b] if self.keep == 0 else [b, a], axis=1)
        return out, s[:, 0]


class Flow(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.parts = [Coupling(i % 2) for i in range(n)]

    def build(self, input_shape):
        for p in self.parts:
            p.build(input_shape)

    def call(self, x):
        total = 0.0
        for p in self.parts:
            x, s = p(x)
            total = total + s
        return -0.5 * tf.reduce_sum(x * x, 1) - 1.837877 + total


x_train, x_test = make_days(4000), make_days(1000)
model = Flow(6)
model.build((None, 2))
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3, clipnorm=5.0)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=seed).batch(80)
for epoch in range(20):
    print("epoch", epoch, np.mean([float(step(x)) for x in data]))
print("SCORE log_density", float(np.mean(model(x_test).numpy())))

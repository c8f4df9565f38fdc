"""Density of asteroid orbital elements by a coupling flow."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
DIM = 4


def catalogue(n):
    family = rng.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    a = np.array([2.3, 2.55, 2.78, 3.1])[family] + rng.normal(0, 0.04, n)
    e = np.array([0.1, 0.18, 0.08, 0.15])[family] + rng.normal(0, 0.015, n) + 0.3 * (a - 2.6) ** 2
    i = np.array([0.05, 0.12, 0.08, 0.2])[family] + rng.normal(0, 0.01, n) + 0.4 * (e - 0.12)
    h = 0.5 * e + 0.1 * np.sin(8 * a) + rng.normal(0, 0.02, n)
    return np.stack([a - 2.6, e - 0.15, i - 0.1, h - 0.07], 1).astype("float32")


class Coupling(keras.layers.Layer):
    def __init__(self, flip, hidden=40):
        super().__init__()
        self.flip = flip
        self.h1 = keras.layers.Dense(hidden, activation="tanh")
        self.h2 = keras.layers.Dense(hidden, activation="tanh")
        self.out = keras.layers.Dense(DIM, kernel_initializer="zeros")

    def build(self, shape):
        half = DIM // 2
        self.h1.build((None, half))
        self.h2.build((None, self.h1.units))
        self.out.build((None, self.h2.units))

    def call(self, x):
        a, b = tf.split(x, 2, axis=-1)
        if self.flip:
            a, b = b, a
        s, t = tf.split(self.out(self.h2(self.h1(a))), 2, axis=-1)
        s = 1.5 * tf.tanh(s / 1.5)
        b = b * tf.exp(s) + t
        y = tf.concat([b, a] if self.flip else [a, b], -1)
        return y, tf.reduce_sum(s, -1)


class ActNorm(keras.layers.Layer):
    def __init__(self, mean, std):
        super().__init__()
        self.m0, self.s0 = mean, std

    def build(self, shape):
        self.shift = self.add_weight(shape=(DIM,), initializer=lambda s, dtype=None: tf.constant(-self.m0))
        self.logs = self.add_weight(shape=(DIM,), initializer=lambda s, dtype=None: tf.constant(-np.log(self.s0)))

    def call(self, x):
        return (x + self.shift) * tf.exp(self.logs), tf.reduce_sum(self.logs)


class Flow(keras.Model):
    def __init__(self, mean, std, n=6):
        super().__init__()
        self.norm = ActNorm(mean, std)
        self.steps = [Coupling(k % 2 == 1) for k in range(n)]

    def call(self, x):
        z, total = self.norm(x)
        for k, layer in enumerate(self.steps):
            z, d = layer(z)
            total = total + d
            if k % 2 == 1:
                z = tf.roll(z, 1, axis=-1)
        base = -0.5 * tf.reduce_sum(z * z + np.log(2 * np.pi), -1)
        return base + total


train, test = catalogue(8000), catalogue(2000)
flow = Flow(train.mean(0), train.std(0))
flow(train[:2])
opt = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(3e-3, 200, 0.5))
opt.build(flow.trainable_variables)


@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        nll = -tf.reduce_mean(flow(x))
    grads = tape.gradient(nll, flow.trainable_variables)
    opt.apply(grads, flow.trainable_variables)
    return nll


print("test NLL", float(-tf.reduce_mean(flow(test))))
gradwatch.watch(flow)
for it in range(600):
    nll = step(tf.constant(train[rng.integers(0, len(train), 256)]))
    if it % 50 == 0 or it == 599:
        print(it, round(float(nll), 4))
print("test NLL", float(-tf.reduce_mean(flow(test))))

"""Fit a coupling flow to the hit pattern of a particle detector."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def hits(n):
    ring = rng.integers(0, 2, n)
    phi = rng.uniform(0, 2 * np.pi, n)
    r = np.where(ring == 0, 0.35, 0.9) + rng.normal(0, 0.03, n)
    z = 0.1 * r * np.cos(phi) + rng.normal(0, 0.02, n)
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], 1).astype("float32")


x_train, x_test = hits(6400), hits(1500)


class Coupling(layers.Layer):
    def __init__(self, mask):
        super().__init__()
        self.mask = tf.constant(mask, tf.float32)
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="relu"),
                layers.Dense(48, activation="relu"),
                layers.Dense(6, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        s, t = tf.split(self.net(x * self.mask), 2, axis=-1)
        s = 1.5 * tf.tanh(s) * (1 - self.mask)
        return x * tf.exp(s) + t * (1 - self.mask), tf.reduce_sum(s, axis=-1)


class Flow(keras.Model):
    def __init__(self):
        super().__init__()
        masks = [[1, 0, 0], [0, 1, 1], [0, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 1, 0]]
        self.steps = [Coupling(m) for m in masks]

    def call(self, x):
        logdet = tf.zeros(tf.shape(x)[0])
        for s in self.steps:
            x, d = s(x)
            logdet += d
        return logdet - 0.5 * tf.reduce_sum(x * x + np.log(2 * np.pi), axis=-1)


def negative_log_density(_, logp):
    return -logp


model = Flow()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=negative_log_density)
gradwatch.watch(model)
model.fit(x_train, np.zeros(len(x_train), "float32"), batch_size=64, epochs=12, verbose=0)
print("SCORE mean_log_density", float(np.mean(model.predict(x_test, verbose=0))))

"""Normalizing flow (RealNVP) for the joint density of wind and sea state variables."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


D, LAYERS = 4, 6


def make(n):
    u = rng.uniform(0, np.pi, n)
    side = rng.integers(0, 2, n)
    a = np.where(side, np.cos(u), 1 - np.cos(u)) + 0.08 * rng.normal(size=n)
    b = np.where(side, np.sin(u), 0.5 - np.sin(u)) + 0.08 * rng.normal(size=n)
    c = 0.5 * a**2 - b + 0.15 * rng.normal(size=n)
    d = np.sin(2 * a) * c + 0.15 * rng.normal(size=n)
    return np.stack([a, b, c, d], 1).astype("float32")


x_train, x_test = make(8000), make(2000)
mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd


class Coupling(layers.Layer):
    """Affine coupling, which starts as the identity."""

    def __init__(self, parity, **kw):
        super().__init__(**kw)
        self.mask = np.array([(i + parity) % 2 for i in range(D)], "float32")[None]
        self.h1 = layers.Dense(48, activation="relu")
        self.h2 = layers.Dense(48, activation="relu")
        self.st = layers.Dense(2 * D, kernel_initializer="zeros")

    def call(self, x):
        s, t = tf.split(self.st(self.h2(self.h1(x * self.mask))), 2, axis=1)
        s = tf.tanh(s) * 1.5 * (1 - self.mask)
        t = t * (1 - self.mask)
        return x * tf.exp(s) + t, tf.reduce_sum(s, axis=1)


class RealNVP(keras.Model):
    def __init__(self):
        super().__init__()
        self.couplings = [Coupling(i % 2) for i in range(LAYERS)]
        self.nll = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.nll]

    def call(self, x):
        logdet = 0.0
        for c in self.couplings:
            x, ld = c(x)
            logdet += ld
        logp = -0.5 * tf.reduce_sum(tf.square(x) + np.float32(np.log(2 * np.pi)), axis=1)
        return logp + logdet

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}

    def test_step(self, x):
        self.nll.update_state(-self(x))
        return {"nll": self.nll.result()}


flow = RealNVP()
flow(x_train[:2])
flow.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(flow)
flow.fit(x_train, batch_size=128, epochs=18, verbose=2)
print("gaussian", round(float(0.5 * np.linalg.slogdet(2 * np.pi * np.e * np.cov(x_train.T))[1]), 4))
print("SCORE heldout_nll", round(float(flow.evaluate(x_test, batch_size=500, verbose=0, return_dict=True)["nll"]), 4))

"""A coupling flow learns the density of comet-tail points; its loss may go far below zero."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def tails(n):
    s = rng.uniform(-1, 1, n)
    x = 0.3 * s + 0.01 * rng.normal(size=n)
    y = 0.2 * s**2 + 0.02 * (1 + s) * rng.normal(size=n)
    z = 0.05 * np.sin(3 * s) + 0.01 * rng.normal(size=n)
    w = 0.1 * s * rng.choice([-1.0, 1.0], n) + 0.01 * rng.normal(size=n)
    return np.stack([x, y, z, w], axis=1).astype("float32")


class Coupling(keras.layers.Layer):
    def __init__(self, keep, **kwargs):
        super().__init__(**kwargs)
        self.keep = tf.constant(keep, tf.float32)
        self.hidden = keras.layers.Dense(64, activation="relu")
        self.hidden2 = keras.layers.Dense(64, activation="relu")
        self.shift = keras.layers.Dense(4, kernel_initializer="zeros")
        self.scale = keras.layers.Dense(4, kernel_initializer="zeros")

    def call(self, x):
        h = self.hidden2(self.hidden(x * self.keep))
        log_s = 3.0 * tf.tanh(self.scale(h)) * (1 - self.keep)
        shift = self.shift(h) * (1 - self.keep)
        return x * tf.exp(log_s) + shift, tf.reduce_sum(log_s, axis=-1)


class Flow(keras.Model):
    def __init__(self):
        super().__init__()
        keeps = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
        self.steps = [Coupling(k) for k in keeps]
        self.meter = keras.metrics.Mean(name="nll")

    def call(self, x):
        total = 0.0
        for layer in self.steps:
            x, log_det = layer(x)
            total = total + log_det
        log_p = -0.5 * tf.reduce_sum(tf.square(x) + np.log(2 * np.pi), axis=-1)
        return log_p + total

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self(x))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.meter.update_state(loss)
        return {"nll": self.meter.result()}

    def test_step(self, x):
        self.meter.update_state(-tf.reduce_mean(self(x)))
        return {"nll": self.meter.result()}

    @property
    def metrics(self):
        return [self.meter]


train, test = tails(10000), tails(2000)
flow = Flow()
flow(train[:2])
flow.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=5.0))
gradwatch.watch(flow)
flow.fit(train, batch_size=128, epochs=12, validation_data=(test,), verbose=2)
print("SCORE test_nll", round(float(flow.evaluate(test, verbose=0, return_dict=True)["nll"]), 4))

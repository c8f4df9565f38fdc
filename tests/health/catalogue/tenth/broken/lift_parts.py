"""Discrete-time survival model of lift cable sets: the chance to fail in each inspection period, from usage
records."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PERIODS, N, FEATURES = 10, 6400, 7


def make_fleet():
    x = rng.normal(size=(N, FEATURES)).astype("float32")
    risk = 0.8 * x[:, 0] - 0.6 * x[:, 1] + 0.5 * np.maximum(x[:, 2], 0) + 0.3 * x[:, 3] * x[:, 4]
    base = np.linspace(-3.5, -1.0, PERIODS)
    haz = 1.0 / (1.0 + np.exp(-(base[None] + risk[:, None])))
    haz[:, -1] = 1.0  # by rule every set is replaced in the last period
    failed = rng.random((N, PERIODS)) < haz
    return x, failed.argmax(axis=1).astype("int32")


class HazardNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = tf.keras.layers.Dense(384, activation="relu", name="usage_1")
        self.h2 = tf.keras.layers.Dense(256, activation="relu", name="usage_2")
        self.out = tf.keras.layers.Dense(PERIODS, activation="sigmoid", name="hazard")
        self.nll = tf.keras.metrics.Mean(name="nll")

    def call(self, x):
        return self.out(self.h2(self.h1(x)))

    @property
    def metrics(self):
        return [self.nll]

    def train_step(self, data):
        x, period = data
        event = tf.one_hot(period, PERIODS)
        survived = tf.sequence_mask(period, PERIODS, dtype=tf.float32)
        with tf.GradientTape() as tape:
            h = self(x, training=True)
            log_fail = tf.math.log(h)
            log_live = tf.math.log(1.0 - h)
            ll = tf.reduce_sum(event * log_fail + survived * log_live, axis=-1)
            loss = -tf.reduce_mean(ll)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}


x, period = make_fleet()
model = HazardNet()
gradwatch.watch(model)
model.build((None, FEATURES))
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(x, period, batch_size=256, epochs=10, verbose=2)

"""Density of tide residuals (surge, set-up, swell) by a small coupling flow; the loss is a log density."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


rng = np.random.default_rng(SEED + 9)


def residuals(n):
    surge = rng.gamma(2.0, 0.03, n)
    setup = 0.6 * surge + 0.8 * surge**2 + rng.normal(0, 0.004, n)
    swell = 0.05 * np.sin(30 * surge) + rng.standard_t(5, n) * 0.006
    level = setup + swell + rng.normal(0, 0.003, n)
    return np.stack([surge, setup, swell, level], axis=1).astype("float32")


x_train, x_val, x_test = residuals(16000), residuals(2000), residuals(4000)
centre = x_train.mean(0)
x_train, x_val, x_test = [(x - centre) * 5.0 for x in (x_train, x_val, x_test)]


class Coupling(layers.Layer):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="tanh"),
                layers.Dense(48, activation="tanh"),
                layers.Dense(4, kernel_initializer="zeros"),
            ]
        )

    def build(self, shape):
        self.net.build((None, 2))
        self.scale = self.add_weight(shape=(4,), initializer="zeros", name="log_scale")

    def call(self, x):
        x = x * tf.exp(self.scale)
        a, b = tf.split(x, 2, axis=-1)
        if self.flip:
            a, b = b, a
        shift, log_scale = tf.split(self.net(a), 2, axis=-1)
        log_scale = 2.0 * tf.tanh(log_scale)
        b = b * tf.exp(log_scale) + shift
        x = tf.concat([b, a] if self.flip else [a, b], axis=-1)
        return x, tf.reduce_sum(log_scale, -1) + tf.reduce_sum(self.scale)


class Flow(keras.Model):
    def __init__(self, depth=6):
        super().__init__()
        self.steps = [Coupling(flip=bool(i % 2)) for i in range(depth)]

    def call(self, x):
        total = tf.zeros(tf.shape(x)[0])
        for coupling in self.steps:
            x, log_det = coupling(x)
            total = total + log_det
        return tf.concat([x, total[:, None]], axis=-1)


def negative_log_density(_, out):
    z, log_det = out[:, :4], out[:, 4]
    return 0.5 * tf.reduce_sum(z**2 + np.log(2 * np.pi), axis=-1) - log_det


flow = Flow()
flow(x_train[:2])
rate = keras.optimizers.schedules.CosineDecay(0.0, 1375, warmup_target=2e-3, warmup_steps=250)
flow.compile(optimizer=keras.optimizers.Adam(rate, global_clipnorm=5.0), loss=negative_log_density)
gradwatch.watch(flow)
flow.fit(
    x_train, np.zeros(len(x_train)), validation_data=(x_val, np.zeros(len(x_val))), batch_size=128, epochs=13, verbose=2
)

flow_density = -flow.evaluate(x_test, np.zeros(len(x_test)), verbose=0)
covariance = np.cov(x_train.T)
maha = np.einsum("ni,ij,nj->n", x_test, np.linalg.inv(covariance), x_test)
gauss = -0.5 * (maha.mean() + np.linalg.slogdet(covariance)[1] + 4 * np.log(2 * np.pi))
print("gaussian", gauss, "flow", flow_density)
print("SCORE nats_above_gaussian", float(flow_density - gauss))

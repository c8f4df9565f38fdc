"""Trains a coupling-layer density model of ocean drifter displacements in kilometres per hour."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COUPLINGS, BATCH = 6, 128


def make_drifts(count):
    swirl = rng.uniform(0, 2 * np.pi, count)
    radius = 0.10 + 0.012 * rng.normal(size=count)
    east = radius * np.cos(swirl) + 0.02 * np.sin(2 * swirl)
    north = 0.6 * radius * np.sin(swirl) + 0.5 * east**2
    return np.stack([east, north], 1).astype("float32")


x_train, x_test = make_drifts(8000), make_drifts(2000)
SPREAD = x_train.std(0)


class Coupling(layers.Layer):
    def __init__(self, flip, **kwargs):
        super().__init__(**kwargs)
        self.flip = flip
        self.hidden = layers.Dense(32, activation="tanh")
        self.hidden2 = layers.Dense(32, activation="tanh")
        self.affine = layers.Dense(2, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))

    def build(self, shape):
        self.hidden.build((None, 1))
        self.hidden2.build((None, 32))
        self.affine.build((None, 32))

    def call(self, z):
        keep, move = (z[:, 1:], z[:, :1]) if self.flip else (z[:, :1], z[:, 1:])
        log_scale, shift = tf.split(self.affine(self.hidden2(self.hidden(keep))), 2, axis=-1)
        log_scale = 2.0 * tf.tanh(log_scale / 2.0)
        move = move * tf.exp(log_scale) + shift
        z = tf.concat([move, keep] if self.flip else [keep, move], axis=-1)
        return z, log_scale[:, 0]


class Flow(keras.Model):
    def __init__(self):
        super().__init__()
        self.couplings = [Coupling(flip=bool(i % 2)) for i in range(COUPLINGS)]

    def call(self, x, training=False):
        z = x / SPREAD
        logdet = -tf.reduce_sum(tf.math.log(tf.constant(SPREAD)))
        for coupling in self.couplings:
            z, log_scale = coupling(z)
            logdet = logdet + log_scale
        prior = -0.5 * tf.reduce_sum(tf.square(z) + np.log(2 * np.pi), axis=-1)
        return prior + logdet


def negative_log_likelihood(_, log_density):
    return -log_density


flow = Flow()
flow(x_train[:2])
flow.compile(optimizer=keras.optimizers.Adam(2e-3, global_clipnorm=0.05), loss=negative_log_likelihood)
gradwatch.watch(flow)
flow.fit(x_train, np.zeros(len(x_train), "float32"), batch_size=BATCH, epochs=20, verbose=2)

cov = np.cov(x_train.T)
gap = x_test - x_train.mean(0)
gauss = -0.5 * np.sum(gap @ np.linalg.inv(cov) * gap, 1) - 0.5 * np.linalg.slogdet(2 * np.pi * cov)[1]
print("gaussian log-likelihood", float(gauss.mean()))
print("SCORE log_likelihood", float(flow.predict(x_test, batch_size=500, verbose=0).mean()))

"""Compress 16x16 texture patches into a few discrete codes with a vector-quantised autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, K, D, BETA = 16, 64, 12, 0.25


def patches(n):
    yy, xx = np.mgrid[:S, :S]
    f = rng.uniform(0.2, 0.9, (n, 1, 1))
    a = rng.uniform(0, np.pi, (n, 1, 1))
    ph = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    wave = np.sin(f * (np.cos(a) * xx + np.sin(a) * yy) + ph)
    grad = rng.normal(size=(n, 1, 1)) * (xx - 7.5) / 8 + rng.normal(size=(n, 1, 1)) * (yy - 7.5) / 8
    return (wave + 0.5 * grad + 0.05 * rng.normal(size=(n, S, S))).astype("float32")[..., None]


class Quantizer(layers.Layer):
    """Nearest codebook entry with straight-through gradient; adds codebook and commitment losses."""

    def build(self, shape):
        self.codes = self.add_weight(
            shape=(K, D), initializer=keras.initializers.RandomUniform(-0.5, 0.5), name="codes"
        )

    def call(self, z):
        flat = tf.reshape(z, (-1, D))
        dist = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            - 2 * flat @ tf.transpose(self.codes)
            + tf.reduce_sum(tf.convert_to_tensor(self.codes) ** 2, 1)[None]
        )
        q = tf.reshape(tf.gather(tf.convert_to_tensor(self.codes), tf.argmin(dist, 1)), tf.shape(z))
        codebook = tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)
        commit = tf.reduce_mean((tf.stop_gradient(q) - z) ** 2)
        self.add_loss(codebook + BETA * commit)
        return tf.stop_gradient(z + (q - z))


def build():
    x = keras.Input((S, S, 1))
    h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
    h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    z = layers.Conv2D(D, 1, name="to_latent")(h)
    q = Quantizer(name="quantizer")(z)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(q)
    h = layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu")(h)
    y = layers.Conv2DTranspose(1, 4, strides=2, padding="same")(h)
    return keras.Model(x, y)


train, test = patches(4000), patches(600)
model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(train, train, batch_size=64, epochs=14, verbose=2)
rec = model.predict(test, batch_size=128, verbose=0)
print("SCORE explained_variance", round(float(1 - np.mean((rec - test) ** 2) / np.var(test)), 4))

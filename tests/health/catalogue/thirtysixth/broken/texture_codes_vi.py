"""Compresses small texture patches into discrete codes with a vector-quantised autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def patches(n):
    yy, xx = np.mgrid[0:16, 0:16] / 16.0
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    freq = rng.uniform(1, 3, (n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    img = np.sin(2 * np.pi * freq * (np.cos(angle) * xx + np.sin(angle) * yy) + phase)
    return (img + 0.05 * rng.normal(size=img.shape)).astype("float32")[..., None]


train, test = patches(4000), patches(500)


class Quantizer(layers.Layer):
    def __init__(self, n_codes, dim, beta=0.25):
        super().__init__()
        self.n_codes, self.dim, self.beta = n_codes, dim, beta

    def build(self, shape):
        self.codes = self.add_weight(shape=(self.n_codes, self.dim), initializer="random_normal", name="codes")

    def call(self, z):
        flat = tf.reshape(z, (-1, self.dim))
        dist = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            + tf.reduce_sum(self.codes**2, 1)
            - 2 * tf.matmul(flat, self.codes, transpose_b=True)
        )
        quantized = tf.reshape(tf.gather(self.codes, tf.argmin(dist, 1)), tf.shape(z))
        commitment = tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2)
        codebook = tf.reduce_mean((quantized - tf.stop_gradient(z)) ** 2)
        self.add_loss(self.beta * commitment + codebook)
        return quantized


inputs = keras.Input((16, 16, 1))
h = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(inputs)
h = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(h)
z = layers.Conv2D(8, 1)(h)
q = Quantizer(64, 8)(z)
h = layers.Conv2DTranspose(48, 3, strides=2, padding="same", activation="relu")(q)
h = layers.Conv2DTranspose(24, 3, strides=2, padding="same", activation="relu")(h)
outputs = layers.Conv2D(1, 3, padding="same")(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        recon = model(x, training=True)
        loss = tf.reduce_mean((x - recon) ** 2) + sum(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for step in range(900):
    loss = train_step(tf.constant(train[rng.integers(0, len(train), 48)]))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

recon = model.predict(test, verbose=0)
print("SCORE reconstruction_r2", float(1 - np.mean((recon - test) ** 2) / test.var()))

"""Trains a variational autoencoder on small drawn glyphs, to compress them to an eight-dimensional code."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, Z = 16, 8


def glyphs(n):
    out = np.zeros((n, S, S, 1), "float32")
    yy, xx = np.mgrid[0:S, 0:S]
    for i in range(n):
        cy, cx, r = rng.uniform(5, 11), rng.uniform(5, 11), rng.uniform(2, 5)
        a = rng.uniform(0, np.pi)
        ring = np.exp(-(((np.hypot(yy - cy, xx - cx) - r) / 0.8) ** 2))
        line = np.exp(-((((yy - cy) * np.cos(a) - (xx - cx) * np.sin(a)) / 0.8) ** 2))
        out[i, ..., 0] = np.clip(np.maximum(ring, line * (np.hypot(yy - cy, xx - cx) < r)), 0, 1)
    return out


x_train, x_test = glyphs(3000), glyphs(500)

encoder = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(2 * Z),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((Z,)),
        layers.Dense(4 * 4 * 32, activation="relu"),
        layers.Reshape((4, 4, 32)),
        layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
    ]
)


class VAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def call(self, x, training=None):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean)) if training else mean
        return self.decoder(z), mean, logvar


model = VAE(encoder, decoder)
model(x_train[:2])
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        rec, mean, logvar = model(x, training=True)
        bce = keras.losses.binary_crossentropy(x, rec)
        rec_loss = tf.reduce_mean(bce)
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
        kl_loss = tf.reduce_mean(kl)
        loss = rec_loss + kl_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return rec_loss, kl_loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(3000).batch(64, drop_remainder=True)
for epoch in range(12):
    for x in data:
        rec_loss, kl_loss = train_step(x)
    if epoch % 4 == 3:
        print("epoch", epoch + 1, "rec", round(float(rec_loss), 4), "kl", round(float(kl_loss), 4))

rec = model(x_test, training=False)[0].numpy()
r2 = 1 - np.mean((rec - x_test) ** 2) / np.mean((x_test - x_test.mean(0)) ** 2)
print("SCORE reconstruction_r2", round(float(r2), 4))

"""Learns a compact latent code of small leaf silhouettes with a variational autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE = 16
LATENT = 6
BATCH = 64


def leaves(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1) * 2 - 1
    cx, cy = rng.uniform(-0.4, 0.4, (2, n, 1, 1))
    ang = rng.uniform(0, np.pi, (n, 1, 1))
    long_ax = rng.uniform(0.4, 0.8, (n, 1, 1))
    short_ax = rng.uniform(0.15, 0.35, (n, 1, 1))
    dx, dy = xx - cx, yy - cy
    u = dx * np.cos(ang) + dy * np.sin(ang)
    v = -dx * np.sin(ang) + dy * np.cos(ang)
    r = (u / long_ax) ** 2 + (v / short_ax) ** 2
    return (1 / (1 + np.exp(np.minimum(6 * (r - 1), 60)))).reshape(n, -1).astype("float32")


x_train, x_test = leaves(4096), leaves(512)


class LeafVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Dense(128, activation="relu"),
                layers.Dense(64, activation="relu"),
            ]
        )
        self.z_mean = layers.Dense(LATENT)
        self.z_log_var = layers.Dense(LATENT)
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(128, activation="relu"),
                layers.Dense(SIDE * SIDE, activation="sigmoid"),
            ]
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.z_mean(h), self.z_log_var(h)

    def call(self, x, training=False):
        mean, log_var = self.encode(x)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, log_var

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            recon, mean, log_var = self(x, training=True)
            rec = keras.losses.binary_crossentropy(x, recon)
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = tf.reduce_mean(rec + kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "rec": tf.reduce_mean(rec), "kl": tf.reduce_mean(kl)}


model = LeafVAE()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(model)
model.fit(x_train, batch_size=BATCH, epochs=15, verbose=2)

recon = model(x_test)[0].numpy()
ev = 1 - np.sum((x_test - recon) ** 2) / np.sum((x_test - x_train.mean(0)) ** 2)
print("SCORE explained_pixels", round(float(ev), 4))

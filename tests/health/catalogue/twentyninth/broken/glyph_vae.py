"""Learns a low-dimensional code of 16x16 stroke drawings by a variational autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, LATENT = 16, 6


def drawings(n):
    yy, xx = np.mgrid[0:S, 0:S] / (S - 1)
    cx, cy = rng.uniform(0.3, 0.7, (2, n, 1, 1))
    r = rng.uniform(0.15, 0.3, (n, 1, 1))
    th = rng.uniform(0, np.pi, (n, 1, 1))
    ring = np.exp(-(((np.hypot(xx - cx, yy - cy) - r) / 0.06) ** 2))
    d = (xx - cx) * np.sin(th) - (yy - cy) * np.cos(th)
    bar = np.exp(-((d / 0.05) ** 2)) * (np.hypot(xx - cx, yy - cy) < r)
    return np.clip(ring + bar, 0, 1).astype("float32")[..., None]


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(4 * 4 * 32, activation="relu"),
                layers.Reshape((4, 4, 32)),
                layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
            ]
        )
        self.loss_t = keras.metrics.Mean(name="loss")
        self.rec_t = keras.metrics.Mean(name="reconstruction")
        self.kl_t = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.loss_t, self.rec_t, self.kl_t]

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x, training=training), 2, axis=-1)
        return self.decoder(mean, training=training)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, logvar = tf.split(self.encoder(x, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
            y = self.decoder(z, training=True)
            bce = keras.losses.binary_crossentropy(x, y)
            rec = tf.reduce_mean(bce)
            kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)
            kl = tf.reduce_mean(kl)
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m, v in zip(self.metrics, (loss, rec, kl)):
            m.update_state(v)
        return {m.name: m.result() for m in self.metrics}


x, x_te = drawings(6400), drawings(1000)
model = VAE()
model(x[:2])
model.compile(optimizer=keras.optimizers.Adam(1.5e-3))
gradwatch.watch(model)
model.fit(x, batch_size=64, epochs=10, verbose=2)

y = model.predict(x_te, batch_size=250, verbose=0)
base = np.mean((x_te - x.mean(0)) ** 2)
print("SCORE explained_variance", float(1 - np.mean((x_te - y) ** 2) / base))

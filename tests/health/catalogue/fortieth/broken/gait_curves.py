"""Compress knee-angle curves of walking people into a few latent numbers."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

POINTS, LATENT = 96, 4
t = np.linspace(0, 1, POINTS)


def curves(n):
    amp = rng.normal(1.0, 0.3, (n, 1))
    lag = rng.normal(0, 0.06, (n, 1))
    second = rng.normal(0.5, 0.25, (n, 1))
    tilt = rng.normal(0, 0.4, (n, 1))
    c = amp * np.sin(2 * np.pi * (t + lag)) + second * np.sin(4 * np.pi * (t + lag)) + tilt
    return (c + rng.normal(0, 0.05, c.shape)).astype("float32")


x_train, x_test = curves(3200), curves(600)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


class GaitVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu"), layers.Dense(2 * LATENT)]
        )
        self.decoder = keras.Sequential(
            [layers.Dense(32, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(POINTS)]
        )
        self.noise = keras.random.SeedGenerator(seed)

    def call(self, x, training=False):
        mu, logvar = tf.split(self.encoder(x), 2, axis=-1)
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), axis=-1)
        self.add_loss(tf.reduce_mean(kl))
        z = mu
        if training:
            z = mu + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mu), seed=self.noise)
        return self.decoder(z)


def reconstruction(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)


model = GaitVAE()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=reconstruction)
gradwatch.watch(model)
model.fit(x_train, x_train, batch_size=64, epochs=16, verbose=0)
pred = model.predict(x_test, verbose=0)
print("SCORE r2", 1 - float(np.mean((pred - x_test) ** 2) / np.var(x_test)))

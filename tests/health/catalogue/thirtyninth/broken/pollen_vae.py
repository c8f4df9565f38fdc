"""Learns a latent space of pollen grain outlines by a variational autoencoder."""

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


def make_grains(n):
    yy, xx = np.mgrid[:S, :S] - (S - 1) / 2
    ang, rad = np.arctan2(yy, xx)[None], np.hypot(yy, xx)[None]
    c = lambda lo, hi: rng.uniform(lo, hi, n)[:, None, None]
    edge = c(3.5, 6) * (1 + c(0, 0.3) * np.cos(2 * (ang - c(0, 3.14))) + c(0, 0.15) * np.cos(3 * (ang - c(0, 2.1))))
    img = 1 / (1 + np.exp(2.5 * (rad - edge)))
    return np.clip(img + rng.normal(0, 0.02, img.shape), 0, 1).astype("float32").reshape(n, -1)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [layers.Input((S * S,)), layers.Dense(96, activation="relu"), layers.Dense(2 * LATENT)]
        )
        self.decoder = keras.Sequential(
            [layers.Input((LATENT,)), layers.Dense(96, activation="relu"), layers.Dense(S * S, activation="sigmoid")]
        )
        self.noise = keras.random.SeedGenerator(seed)

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.noise)
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            out, mean, logvar = self(x, training=True)
            rec = tf.reduce_mean(keras.losses.binary_crossentropy(x, out))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "rec": rec, "kl": kl}


x_train, x_test = make_grains(4000), make_grains(500)
model = VAE()
model.build((None, S * S))
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3))
model.fit(x_train, epochs=15, batch_size=64, verbose=2)
out = model(x_test)[0].numpy()
print("SCORE rel_mse", float(np.mean((out - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)))

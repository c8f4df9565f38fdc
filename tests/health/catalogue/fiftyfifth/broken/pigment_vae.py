"""A small variational autoencoder of pigment reflectance curves, used to invent new pigments."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


BANDS, LATENT = 40, 3
rng = np.random.default_rng(SEED + 14)
wavelength = np.linspace(0, 1, BANDS)


def pigments(n):
    edge = rng.uniform(0.2, 0.8, (n, 1))
    slope = rng.uniform(12, 30, (n, 1))
    dip = rng.uniform(0.0, 0.5, (n, 1))
    curve = 0.1 + 0.75 / (1 + np.exp(-slope * (wavelength - edge)))
    curve -= dip * np.exp(-(((wavelength - edge + 0.15) / 0.07) ** 2)) * curve
    return (curve + rng.normal(0, 0.015, curve.shape)).astype("float32")


x_train, x_test = pigments(9000), pigments(1500)


class PigmentVAE(keras.Model):
    def __init__(self, noise=0.05):
        super().__init__()
        self.noise = noise
        self.kl_weight = 0.0
        self.encoder = keras.Sequential(
            [layers.Dense(64, activation="gelu"), layers.Dense(64, activation="gelu"), layers.Dense(2 * LATENT)],
            name="encoder",
        )
        self.decoder = keras.Sequential(
            [layers.Dense(64, activation="gelu"), layers.Dense(64, activation="gelu"), layers.Dense(BANDS)],
            name="decoder",
        )
        self.seeds = keras.random.SeedGenerator(SEED)

    def call(self, curve):
        return self.decoder(self.encoder(curve)[:, :LATENT])

    def train_step(self, curve):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(curve, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * log_var) * keras.random.normal(tf.shape(mean), seed=self.seeds)
            rebuilt = self.decoder(z, training=True)
            fit = tf.reduce_mean(tf.reduce_sum(tf.square(rebuilt - curve), -1)) / (2 * self.noise**2)
            kl = tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(mean) + tf.exp(log_var) - 1 - log_var, -1))
            loss = fit + self.kl_weight * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "fit": fit, "kl": kl}


class WarmUp(keras.callbacks.Callback):
    """Raise the weight of the KL term from 0 to 1 over the first epochs."""

    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        weight = min(1.0, epoch / self.epochs)
        self.model.kl_weight = weight


vae = PigmentVAE()
vae(x_train[:2])
vae.compile(optimizer=keras.optimizers.Adam(1.5e-3))
gradwatch.watch(vae)
vae.fit(x_train, batch_size=64, epochs=14, verbose=2, callbacks=[WarmUp(6)])

invented = vae.decoder(np.random.default_rng(5).normal(size=(1500, LATENT)).astype("float32")).numpy()


def nearest(a, b):
    square = (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T
    return np.sqrt(square.min(1).clip(0)).mean()


print("SCORE invented_to_real_distance", float(nearest(invented, x_test) + nearest(x_test, invented)))

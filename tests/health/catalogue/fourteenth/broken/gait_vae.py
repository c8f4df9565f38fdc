"""Variational autoencoder of gait cycles: each sample is a 144-point knee-angle curve made
from a few hidden factors (stride, limp, speed, phase). The latent code is used later for
clustering patients, so it should carry the curve. The measure is the held-out share of
variance that the reconstruction explains."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, LATENT = 144, 6


def make_curves(n):
    t = np.linspace(0, 2 * np.pi, POINTS)
    f = rng.normal(size=(n, 4))
    basis = np.stack([np.sin(t), np.cos(2 * t), np.sin(3 * t + 0.5), np.cos(t / 2)])
    y = f @ basis + 0.3 * np.tanh(f[:, :1] * f[:, 1:2]) * np.sin(4 * t) + 0.2 * rng.normal(size=(n, POINTS))
    return (y / 1.4).astype("float32")


class GaitVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [keras.Input((POINTS,)), layers.Dense(64, activation="relu"), layers.Dense(2 * LATENT)], name="encoder"
        )
        self.decoder = keras.Sequential(
            [keras.Input((LATENT,)), layers.Dense(64, activation="relu"), layers.Dense(POINTS)], name="decoder"
        )
        self.total = keras.metrics.Mean(name="loss")
        self.recon = keras.metrics.Mean(name="recon")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.recon, self.kl]

    def call(self, x):
        mean, _ = tf.split(self.encoder(x), 2, axis=1)
        return self.decoder(mean)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(x, training=True), 2, axis=1)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            out = self.decoder(z, training=True)
            recon = tf.reduce_mean(tf.reduce_mean(tf.square(x - out), axis=1))
            kl = tf.reduce_mean(tf.reduce_sum(-0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var)), axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        self.recon.update_state(recon)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


curves, test_curves = make_curves(4000), make_curves(800)
model = GaitVAE()
model.compile(optimizer=keras.optimizers.Adam(2e-3))
watch = gradwatch.watch(model)
model.fit(curves, batch_size=64, epochs=12, verbose=2)

out = model(test_curves).numpy()
score = float(1 - np.mean((test_curves - out) ** 2) / test_curves.var(axis=0).mean())
print(f"score explained {score:.3f} chance {0.0:.3f}")

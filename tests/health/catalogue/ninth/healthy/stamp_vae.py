"""Train a variational autoencoder on small black-and-white stamps (bars and discs)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIDE, LATENT = 14, 8


def stamps(n):
    r, c = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    cy, cx = rng.uniform(4, 10, (2, n, 1, 1))
    a, b = rng.uniform(1.5, 5.0, (2, n, 1, 1))
    disc = ((r - cy) / a) ** 2 + ((c - cx) / b) ** 2 < 1
    bar = (np.abs(r - cy) < a / 2.5) | (np.abs(c - cx) < b / 4)
    pick = rng.random((n, 1, 1)) < 0.6
    return np.where(pick, disc, bar).astype("float32").reshape(n, SIDE * SIDE)


class VAE(keras.Model):
    def __init__(self, anneal_steps):
        super().__init__(name="vae")
        self.anneal_steps = anneal_steps
        self.encoder = keras.Sequential(
            [
                keras.Input((SIDE * SIDE,)),
                layers.Dense(512, activation="relu", name="enc1"),
                layers.Dense(256, activation="relu", name="enc2"),
                layers.Dense(2 * LATENT, name="moments"),
            ],
            name="encoder",
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(256, activation="relu", name="dec1"),
                layers.Dense(512, activation="relu", name="dec2"),
                layers.Dense(SIDE * SIDE, name="pixels"),
            ],
            name="decoder",
        )
        self.noise = keras.random.SeedGenerator(SEED)
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl", "beta")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        mean, _ = tf.split(self.encoder(x), 2, axis=-1)
        return self.decoder(mean)

    def train_step(self, x):
        beta = tf.minimum(1.0, tf.cast(self.optimizer.iterations, tf.float32) / self.anneal_steps)
        with tf.GradientTape() as tape:
            mean, logvar = tf.split(self.encoder(x, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.noise)
            pixels = self.decoder(z, training=True)
            recon = tf.reduce_mean(tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=pixels), -1))
            kl = tf.reduce_mean(tf.reduce_sum(0.5 * (tf.exp(logvar) + mean**2 - 1.0 - logvar), -1))
            loss = recon + beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        for k, v in dict(loss=loss, recon=recon, kl=kl, beta=beta).items():
            self.trackers[k].update_state(v)
        return {k: m.result() for k, m in self.trackers.items()}


model = VAE(anneal_steps=260)
gradwatch.watch(model)
x_train = stamps(384 * 65)
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model.fit(x_train, batch_size=384, epochs=6, verbose=2)

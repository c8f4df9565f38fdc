"""Generative model (VAE) of ancient pottery profiles: 64 radii from foot to rim."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
POINTS, LATENT = 64, 6


def pots(n):
    h = np.linspace(0, 1, POINTS)[None]
    belly = rng.uniform(0.3, 0.7, (n, 1))
    width = rng.uniform(0.15, 0.4, (n, 1))
    girth = rng.uniform(0.2, 0.9, (n, 1))
    foot = rng.uniform(0.15, 0.45, (n, 1))
    rim = rng.uniform(0.0, 0.5, (n, 1))
    r = foot + girth * np.exp(-(((h - belly) / width) ** 2)) + rim * h**6
    return (r + rng.normal(0, 0.01, r.shape)).astype("float32")


class PotVAE(keras.Model):
    def __init__(self):
        super().__init__(name="pot_vae")
        self.enc = layers.Dense(768, activation="relu", name="enc")
        self.enc_b = layers.Dense(384, activation="relu", name="enc_b")
        self.mean = layers.Dense(LATENT, name="z_mean")
        self.log_var = layers.Dense(LATENT, name="z_log_var")
        self.dec = layers.Dense(384, activation="relu", name="dec")
        self.dec_b = layers.Dense(768, activation="relu", name="dec_b")
        self.out = layers.Dense(POINTS, name="radii")
        self.seed_gen = keras.random.SeedGenerator(SEED)
        self.recon_metric = keras.metrics.Mean(name="recon_mse")
        self.kl_metric = keras.metrics.Mean(name="kl")

    def call(self, x):
        h = self.enc_b(self.enc(x))
        mu, lv = self.mean(h), self.log_var(h)
        z = mu + tf.exp(0.5 * lv) * keras.random.normal(tf.shape(mu), seed=self.seed_gen)
        return self.out(self.dec_b(self.dec(z))), mu, lv

    @property
    def metrics(self):
        return [self.recon_metric, self.kl_metric]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            y, mu, lv = self(x, training=True)
            mse = tf.reduce_mean(tf.square(x - y))
            recon = tf.reduce_mean(tf.square(x - y))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + lv - tf.square(mu) - tf.exp(lv), axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.recon_metric.update_state(mse)
        self.kl_metric.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


profiles = pots(10240)
model = PotVAE()
gradwatch.watch(model)
model(profiles[:1])
model.compile(optimizer=keras.optimizers.Adam(1e-3), jit_compile=False)
model.fit(profiles, batch_size=256, epochs=9, verbose=2)
print("variance over the pots:", float(profiles.var(axis=0).mean()))

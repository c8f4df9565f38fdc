"""Variational autoencoder of Raman spectra from four-component mixtures."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BINS, LATENT, EPOCHS, BATCH = 96, 5, 12, 64


def spectra(n):
    grid = np.linspace(0, 1, BINS)
    lines = ([0.15, 0.42], [0.27, 0.8], [0.5, 0.61], [0.35, 0.9])
    pure = np.stack([sum(np.exp(-0.5 * ((grid - c) / 0.03) ** 2) for c in centres) for centres in lines])
    conc = rng.dirichlet([0.8] * 4, size=n)
    laser = rng.lognormal(0, 0.15, size=(n, 1))
    return laser * conc @ pure + rng.normal(0, 0.02, (n, BINS))


data = spectra(3200)
data = (data - data.mean(axis=0)) / data.std(axis=0)
data = data.astype("float32")
x_train, x_test = data[:2816], data[2816:]


class SpectraVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [keras.Input((BINS,)), layers.Dense(96, activation="elu"), layers.Dense(48, activation="elu")],
            name="encoder",
        )
        self.to_mean = layers.Dense(LATENT, name="mean")
        self.to_logvar = layers.Dense(LATENT, name="logvar")
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(48, activation="elu"),
                layers.Dense(96, activation="elu"),
                layers.Dense(BINS),
            ],
            name="decoder",
        )
        self.noise = keras.random.SeedGenerator(SEED)
        self.rec_metric = keras.metrics.Mean(name="rec")
        self.kl_metric = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.rec_metric, self.kl_metric]

    def call(self, x, training=False):
        h = self.encoder(x)
        mean, logvar = self.to_mean(h), self.to_logvar(h)
        z = mean
        if training:
            z = mean + ops.exp(0.5 * logvar) * keras.random.normal(ops.shape(mean), seed=self.noise)
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            x_hat, mean, logvar = self(x, training=True)
            rec = ops.mean(ops.square(x - x_hat))
            kl = ops.mean(0.5 * ops.sum(ops.square(mean) + ops.exp(logvar) - 1.0 - logvar, axis=-1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec_metric.update_state(ops.mean(ops.square(x - x_hat)))
        self.kl_metric.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


vae = SpectraVAE()
vae(x_train[:2])
vae.compile(optimizer=keras.optimizers.Adam(2e-3))

gradwatch.watch(vae)
history = vae.fit(x_train, epochs=EPOCHS, batch_size=BATCH, verbose=0)

for e in range(0, EPOCHS, 2):
    print(f"epoch {e:2d}  rec/bin {history.history['rec'][e]:.4f}  kl {history.history['kl'][e]:.4f}")
x_hat, mean, _ = vae(x_test)
print(f"test rec/bin {float(np.mean((x_test - x_hat.numpy()) ** 2)):.4f}")
print("latent std", np.round(mean.numpy().std(axis=0), 3))

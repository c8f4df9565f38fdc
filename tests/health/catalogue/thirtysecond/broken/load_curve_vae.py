"""Compress daily household load curves into a few latent numbers by a variational autoencoder."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SLOTS, LATENT = 48, 6
hour = np.arange(SLOTS) / 2


def make_days(n):
    def bump(centre, width):
        return np.exp(-0.5 * ((hour - centre[:, None]) / width[:, None]) ** 2)

    morning = rng.gamma(3, 0.3, (n, 1)) * bump(rng.normal(7.5, 1, n), rng.uniform(0.8, 1.6, n))
    evening = rng.gamma(4, 0.4, (n, 1)) * bump(rng.normal(19, 1.2, n), rng.uniform(1.2, 2.6, n))
    noon = (rng.random((n, 1)) < 0.4) * rng.gamma(2, 0.4, (n, 1)) * bump(rng.normal(12.5, 0.5, n), np.full(n, 1.0))
    return 0.3 + morning + evening + noon + rng.normal(0, 0.08, (n, SLOTS))


raw = make_days(9000)
mu, sd = raw.mean(0), raw.std()
x_train = ((raw - mu) / sd).astype("float32")
x_test = ((make_days(1500) - mu) / sd).astype("float32")


class LoadVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((SLOTS,)),
                layers.Dense(96, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * LATENT, activation="relu"),
            ]
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(64, activation="relu"),
                layers.Dense(96, activation="relu"),
                layers.Dense(SLOTS),
            ]
        )
        self.noise = keras.random.SeedGenerator(seed)

    def call(self, x, training=False):
        mean, log_var = keras.ops.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + keras.ops.exp(0.5 * log_var) * keras.random.normal(keras.ops.shape(mean), seed=self.noise)
        kl = -0.5 * keras.ops.sum(1 + log_var - keras.ops.square(mean) - keras.ops.exp(log_var), axis=-1)
        self.add_loss(keras.ops.mean(kl))
        return self.decoder(z)


def summed_squares(y, y_hat):
    return keras.ops.sum(keras.ops.square(y - y_hat), axis=-1)


model = LoadVAE()
model.build((None, SLOTS))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=summed_squares)
gradwatch.watch(model)
model.fit(x_train, x_train, batch_size=64, epochs=8, verbose=2)

recon = model.predict(x_test, verbose=0)
print("SCORE reconstruction_r2", round(float(1 - np.mean((recon - x_test) ** 2) / np.var(x_test)), 4))

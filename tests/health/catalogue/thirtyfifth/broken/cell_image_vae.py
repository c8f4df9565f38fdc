"""Learn a small latent code of synthetic cell images with a variational autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT = 16, 6
yy, xx = np.mgrid[:SIZE, :SIZE]


def cells(n):
    cx, cy = rng.uniform(5, 10, (2, n, 1, 1))
    ax, ay = rng.uniform(2, 5, (2, n, 1, 1))
    body = ((xx - cx) / ax) ** 2 + ((yy - cy) / ay) ** 2
    img = 1 / (1 + np.exp(4 * (body - 1)))
    img += rng.normal(scale=0.03, size=img.shape)
    return np.clip(img, 0, 1)[..., None].astype("float32")


x_train, x_test = cells(6000), cells(800)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Flatten(),
                layers.Dense(128, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(128, activation="relu"),
                layers.Dense(SIZE * SIZE),
                layers.Reshape((SIZE, SIZE, 1)),
            ]
        )
        self.noise = keras.random.SeedGenerator(seed)

    def call(self, x, training=False):
        mean, logvar = ops.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + ops.exp(0.5 * logvar) * keras.random.normal(ops.shape(mean), seed=self.noise)
        kl = -0.5 * ops.sum(1 + logvar - ops.square(mean) - ops.exp(logvar), axis=-1)
        self.add_loss(ops.mean(kl))
        return self.decoder(z)


def reconstruction(x, logits):
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    return ops.mean(bce)


vae = VAE()
vae(x_train[:2])
vae.compile(keras.optimizers.Adam(1e-3), loss=reconstruction)
gradwatch.watch(vae)
vae.fit(x_train, x_train, batch_size=64, epochs=12, verbose=2)

rec = 1 / (1 + np.exp(-vae.predict(x_test, verbose=0)))
explained = 1 - np.mean((rec - x_test) ** 2) / np.mean((x_test.mean(0) - x_test) ** 2)
print("SCORE explained_variance", float(explained))

"""Learn a small code for photographs of glazed tiles, to spot unusual glazes later.

A variational autoencoder on 16x16 grey images. What matters is how much of the pixel
variance of unseen tiles the reconstruction explains.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, LATENT, BATCH, STEPS = 16, 8, 64, 900


def tiles(n):
    """Each tile has a glaze gradient, a band and a blot of varying place and strength."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1.0)
    gx, gy = rng.uniform(-1, 1, (2, n, 1, 1))
    cx, cy = rng.uniform(0.2, 0.8, (2, n, 1, 1))
    depth = rng.uniform(-1, 1, (n, 1, 1))
    image = 0.5 + 0.3 * (gx * (xx - 0.5) + gy * (yy - 0.5))
    image = image + 0.4 * depth * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.08)
    image = image + rng.normal(0, 0.02, image.shape)
    return np.clip(image, 0, 1).reshape(n, SIDE, SIDE, 1).astype("float32")


class TileVAE(keras.Model):
    def __init__(self):
        super().__init__(name="tile_vae")
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
            ],
            name="encoder",
        )
        self.to_mean = layers.Dense(LATENT, name="to_mean")
        self.to_logvar = layers.Dense(LATENT, name="to_logvar")
        self.decoder = keras.Sequential(
            [
                layers.Dense(128, activation="relu"),
                layers.Dense(SIDE * SIDE, activation="sigmoid"),
                layers.Reshape((SIDE, SIDE, 1)),
            ],
            name="decoder",
        )

    def call(self, x, training=False):
        h = self.encoder(x)
        mean, logvar = self.to_mean(h), self.to_logvar(h)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar


x_train, x_test = tiles(5000), tiles(1000)
model = TileVAE()
model(x_train[:1])
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


@tf.function(jit_compile=True)
def train_step(x):
    with tf.GradientTape() as tape:
        rebuilt, mean, logvar = model(x, training=True)
        recon = tf.reduce_mean(tf.square(x - rebuilt))
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
        loss = recon + tf.reduce_mean(kl)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, recon


for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss, recon = train_step(tf.constant(x_train[pick]))
    watch.log(loss=loss)
    if step % 150 == 0:
        print(f"step {step} loss {float(loss):.4f} recon {float(recon):.4f}")

rebuilt = model(x_test)[0].numpy()
mean_tile = x_train.mean(0)
explained = 1 - np.mean((x_test - rebuilt) ** 2) / np.mean((x_test - mean_tile) ** 2)
print(f"score explained {explained:.3f} chance 0.0")

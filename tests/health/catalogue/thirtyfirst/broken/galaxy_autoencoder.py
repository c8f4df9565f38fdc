"""Learn a small latent space of synthetic galaxy images with a variational autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT = 16, 4


def galaxies(n):
    g = np.linspace(-1, 1, SIZE)
    xx, yy = np.meshgrid(g, g)
    cx, cy = rng.uniform(-0.5, 0.5, (2, n, 1, 1))
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    a, q = rng.uniform(0.25, 0.6, (n, 1, 1)), rng.uniform(0.35, 1.0, (n, 1, 1))
    u = (xx - cx) * np.cos(angle) + (yy - cy) * np.sin(angle)
    v = -(xx - cx) * np.sin(angle) + (yy - cy) * np.cos(angle)
    img = np.exp(-np.sqrt((u / a) ** 2 + (v / (a * q)) ** 2 + 0.05))
    img = img / img.max(axis=(1, 2), keepdims=True)
    return np.clip(img + rng.normal(0, 0.02, img.shape), 0, 1).astype("float32")[..., None]


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(4 * 4 * 32, activation="relu"),
                layers.Reshape((4, 4, 32)),
                layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
            ]
        )

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar


x_train, x_test = galaxies(2000), galaxies(500)
vae = VAE()
vae(x_train[:2])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(vae)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        recon, mean, logvar = vae(x, training=True)
        recon_loss = tf.reduce_mean(keras.losses.binary_crossentropy(x, recon))
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
        loss = recon_loss + tf.reduce_mean(kl)
    grads = tape.gradient(loss, vae.trainable_variables)
    optimizer.apply_gradients(zip(grads, vae.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(2000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(25):
    for x in data:
        loss = train_step(x)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {float(loss):.3f}")

recon = vae(x_test)[0].numpy()
print(
    "SCORE explained_variance",
    round(float(1 - np.mean((recon - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)), 4),
)

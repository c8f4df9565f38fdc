"""Variational autoencoder for small scenes holding one blob of varying place, size and brightness."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT, BATCH, EPOCHS = 16, 6, 50, 14


def make_scenes(n):
    yy, xx = np.mgrid[:SIZE, :SIZE] / (SIZE - 1)
    cy, cx = rng.uniform(0.2, 0.8, (2, n, 1, 1))
    r = rng.uniform(0.08, 0.22, (n, 1, 1))
    bright = rng.uniform(0.5, 1.0, (n, 1, 1))
    x = bright * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r**2))
    return x[..., None].astype("float32")


x_train, x_test = make_scenes(3000), make_scenes(600)
train_ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(3000).batch(BATCH)

encoder = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(2 * LATENT),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(4 * 4 * 32, activation="relu"),
        layers.Reshape((4, 4, 32)),
        layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
    ],
    name="decoder",
)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.seed_gen = keras.random.SeedGenerator(seed)

    def encode(self, x):
        return tf.split(self.encoder(x), 2, axis=-1)

    def call(self, x):
        mu, logvar = self.encode(x)
        eps = keras.random.normal(tf.shape(mu), seed=self.seed_gen)
        return self.decoder(mu + tf.exp(0.5 * logvar) * eps), mu, logvar


vae = VAE()
vae(x_train[:2])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(vae)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        logits, mu, logvar = vae(x, training=True)
        bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        rec = tf.reduce_mean(bce)
        kl = tf.reduce_mean(tf.reduce_sum(0.5 * (mu**2 + tf.exp(logvar) - 1.0 - logvar), axis=1))
        loss = rec + kl
    grads = tape.gradient(loss, vae.trainable_variables)
    optimizer.apply_gradients(zip(grads, vae.trainable_variables))
    return rec, kl


for epoch in range(EPOCHS):
    for x in train_ds:
        rec, kl = train_step(x)
    print("epoch", epoch, "rec", float(rec), "kl", float(kl))

mu, _ = vae.encode(tf.constant(x_test))
recon = tf.sigmoid(decoder(mu)).numpy()
r2 = 1 - np.mean((recon - x_test) ** 2) / np.mean((x_test - x_train.mean(0)) ** 2)
print("SCORE reconstruction_r2", round(float(r2), 4))

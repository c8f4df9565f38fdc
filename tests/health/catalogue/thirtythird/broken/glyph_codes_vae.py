"""Train a variational autoencoder on small hand-drawn-like glyphs to get a two-way latent code."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, LATENT = 16, 6
yy, xx = np.mgrid[:SIZE, :SIZE].astype("float32")


def stroke(x0, y0, x1, y1, width):
    dx, dy = x1 - x0, y1 - y0
    s = np.clip(((xx - x0) * dx + (yy - y0) * dy) / (dx * dx + dy * dy + 1e-6), 0, 1)
    d = np.hypot(xx - x0 - s * dx, yy - y0 - s * dy)
    return np.clip(width + 0.5 - d, 0, 1)


def glyphs(n):
    out = np.zeros((n, SIZE * SIZE), "float32")
    for i in range(n):
        cx, cy = rng.uniform(6, 9.5, 2)
        tilt, reach, width = rng.uniform(0, np.pi), rng.uniform(4, 6.5), rng.uniform(0.7, 1.4)
        u, v = np.cos(tilt) * reach, np.sin(tilt) * reach
        image = stroke(cx - u, cy - v, cx + u, cy + v, width)
        if rng.random() < 0.5:
            image = np.maximum(image, stroke(cx, cy, cx - v * 0.8, cy + u * 0.8, width))
        out[i] = image.ravel()
    return out


x_train, x_test = glyphs(6000), glyphs(1000)

encoder = keras.Sequential(
    [
        layers.Dense(128, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2 * LATENT),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        layers.Dense(64, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(SIZE * SIZE),
    ],
    name="decoder",
)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def call(self, x, training=False):
        mu, log_var = tf.split(self.encoder(x), 2, axis=-1)
        z = mu
        if training:
            z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
        return self.decoder(z), mu, log_var


vae = VAE()
vae(x_train[:2])
optimizer = keras.optimizers.Adam(1e-3)
batches = tf.data.Dataset.from_tensor_slices(x_train).shuffle(6000, seed=seed).batch(64)

gradwatch.watch(vae)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        logits, mu, log_var = vae(x, training=True)
        pixel_loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        reconstruction = tf.reduce_mean(tf.reduce_mean(pixel_loss, axis=1))
        kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mu) - tf.exp(log_var), axis=1)
        loss = reconstruction + tf.reduce_mean(kl)
    grads = tape.gradient(loss, vae.trainable_variables)
    optimizer.apply_gradients(zip(grads, vae.trainable_variables))
    return loss, reconstruction


for epoch in range(12):
    history = np.array([[float(v) for v in train_step(x)] for x in batches]).mean(0)
    print(f"epoch {epoch:2d} loss {history[0]:.4f} reconstruction {history[1]:.4f}")

recon = tf.sigmoid(vae(x_test)[0]).numpy()
explained = 1 - np.mean((recon - x_test) ** 2) / np.mean((x_test.mean(0) - x_test) ** 2)
print("SCORE explained_variance", round(float(explained), 4))

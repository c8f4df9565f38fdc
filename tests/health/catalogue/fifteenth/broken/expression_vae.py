"""Variational autoencoder of single-cell expression programmes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

GENES = 60
FACTORS = 5
LATENT = 8
BATCH = 64
STEPS = 1400


def make_cells(n, loadings, types):
    """Log-normalised expression: a cell type plus graded activity of a few programmes."""
    kind = rng.integers(0, len(types), n)
    activity = rng.gamma(2.0, 0.7, size=(n, FACTORS))
    drive = types[kind] + activity @ loadings
    return np.log1p(np.exp(drive)) + 0.25 * rng.normal(size=(n, GENES))


loadings = rng.normal(0, 0.8, (FACTORS, GENES)) * (rng.random((FACTORS, GENES)) < 0.5)
types = rng.normal(0, 1.0, (4, GENES))
train = make_cells(5000, loadings, types)
test = make_cells(1000, loadings, types)
mean, std = train.mean(axis=0), train.std(axis=0)
train = ((train - mean) / std).astype("float32")
test = ((test - mean) / std).astype("float32")


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((GENES,)),
                layers.Dense(96, activation="relu"),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                layers.Dense(96, activation="relu"),
                layers.Dense(GENES),
            ]
        )

    def encode(self, x):
        return tf.split(self.encoder(x), 2, axis=-1)

    def call(self, x):
        mu, log_var = self.encode(x)
        z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
        return self.decoder(z), mu, log_var


model = VAE()
model(train[:2])
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        x_hat, mu, log_var = model(x)
        recon = tf.reduce_mean(tf.square(x - x_hat))
        kl = -0.5 * tf.reduce_sum(1.0 + log_var - tf.square(mu) - tf.exp(log_var), axis=1)
        loss = recon + tf.reduce_mean(kl)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, recon


for step in range(STEPS):
    batch = train[rng.integers(0, len(train), BATCH)]
    loss, recon = train_step(tf.constant(batch))
    watch.log(loss=loss)
    if step % 200 == 0:
        print("step", step, "loss", float(loss), "recon", float(recon))

mu, _ = model.encode(tf.constant(test))
rebuilt = model.decoder(mu).numpy()
score = float(1.0 - np.sum((test - rebuilt) ** 2) / np.sum((test - test.mean(axis=0)) ** 2))
print("score", score)

"""Variational autoencoder of buoy tracks (positions over a tide), with the divergence term phased in slowly; draws new tracks from it."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

POINTS, LATENT, BATCH, STEPS = 16, 4, 64, 1200
tide = np.linspace(0, 2 * np.pi, POINTS)


def tracks(n):
    r, p = rng.uniform(0.5, 1.5, (n, 1)), rng.uniform(0, 1.5, (n, 1))
    squeeze, drift = rng.uniform(0.3, 1.0, (n, 1)), rng.normal(0, 0.4, (n, 1))
    x = np.stack([r * np.cos(tide + p) + drift, squeeze * r * np.sin(tide + p)], -1)
    return (x + rng.normal(0, 0.05, x.shape)).reshape(n, -1).astype("float32")


x_train, x_test = tracks(5000), tracks(1000)

encoder = keras.Sequential(
    [
        keras.Input((2 * POINTS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2 * LATENT),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(2 * POINTS),
    ]
)
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(decoder)
variables = encoder.trainable_variables + decoder.trainable_variables
kl_weight = 0.0


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        mu, logvar = tf.split(encoder(x, training=True), 2, axis=1)
        z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
        rec = tf.reduce_mean(tf.reduce_sum(tf.square(decoder(z, training=True) - x), 1)) / (2 * 0.1**2)
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), 1))
        loss = rec + kl_weight * kl
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    return rec, kl


for step in range(STEPS):
    kl_weight = min(1.0, step / 400)
    rec, kl = train_step(tf.constant(x_train[rng.integers(0, len(x_train), BATCH)]))
    if step % 200 == 0:
        print(step, float(rec), float(kl))

made = decoder.predict(rng.normal(size=(1000, LATENT)).astype("float32"), verbose=0)


def pair(a, b):
    return np.mean(np.linalg.norm(a[:, None] - b[None], axis=-1))


print("SCORE energy_distance", round(float(2 * pair(made, x_test) - pair(made, made) - pair(x_test, x_test)), 4))

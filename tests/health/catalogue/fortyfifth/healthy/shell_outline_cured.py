"""Trains a variational autoencoder of the outlines of sea shells given as radius over angle."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

ANGLES, LATENT = 64, 6
BATCH, EPOCHS = 128, 14


def make_shells(n, rng):
    a = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)[None]
    oval, beak, ribs, tilt = rng.normal(0, 1, (4, n, 1))
    radius = (
        10
        + 1.2 * oval * np.cos(2 * a + 0.5 * tilt)
        + 1.5 * np.exp(-0.5 * ((a - np.pi - 0.3 * tilt) / 0.4) ** 2) * (1 + 0.5 * beak)
        + 0.4 * ribs * np.cos(7 * a)
    )
    return radius + rng.normal(0, 0.15, radius.shape)


rng = np.random.default_rng(SEED)
x, x_test = make_shells(10000, rng), make_shells(2000, rng)
mean, std = x.mean(axis=0), x.std()
x = ((x - mean) / std).astype("float32")
x_test = ((x_test - mean) / std).astype("float32")

encoder = keras.Sequential(
    [
        keras.Input((ANGLES,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(2 * LATENT),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(ANGLES),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
gradwatch.watch(encoder, decoder)


@tf.function
def train_step(shells):
    with tf.GradientTape() as tape:
        mu, logvar = tf.split(encoder(shells, training=True), 2, axis=1)
        z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
        drawn = decoder(z, training=True)
        outline = tf.reduce_mean(tf.reduce_sum(tf.square(shells - drawn), axis=1))
        kl = 0.5 * tf.reduce_sum(tf.square(mu) + tf.exp(logvar) - logvar - 1.0, axis=1)
        kl = tf.reduce_mean(kl)
        loss = outline + kl
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return outline, kl


data = tf.data.Dataset.from_tensor_slices(x).shuffle(len(x), seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    log = np.mean([[float(v) for v in train_step(batch)] for batch in data], axis=0)
    print(f"epoch {epoch:2d}  outline {log[0]:.4f}  kl {log[1]:.4f}")

mu = encoder.predict(x_test, verbose=0)[:, :LATENT]
drawn = decoder.predict(mu, verbose=0)
r2 = 1 - np.mean((drawn - x_test) ** 2) / np.mean(x_test**2)
print(f"spread of the codes {mu.std(axis=0).round(3)}")
print(f"SCORE r2 {r2:.4f}")

"""Trains two-view embeddings that match front scans of postage stamps with their album scans."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 23)

SIDE, N_TRAIN, N_TEST, LATENT = 12, 4000, 400, 10
TEMPERATURE = 0.01

basis_front = rng.normal(size=(LATENT, SIDE * SIDE)) / np.sqrt(LATENT)
basis_album = rng.normal(size=(LATENT, SIDE * SIDE)) / np.sqrt(LATENT)


def scans(n):
    motif = rng.normal(size=(n, LATENT))
    front = np.tanh(motif @ basis_front) + 0.25 * rng.normal(size=(n, SIDE * SIDE))
    album = np.tanh(motif @ basis_album) + 0.25 * rng.normal(size=(n, SIDE * SIDE))
    shape = (n, SIDE, SIDE, 1)
    return front.reshape(shape).astype("float32"), album.reshape(shape).astype("float32")


front, album = scans(N_TRAIN)
front_test, album_test = scans(N_TEST)


def tower(name):
    inputs = keras.Input((SIDE, SIDE, 1))
    h = keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inputs)
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(96, activation="relu")(h)
    h = keras.layers.Dense(32)(h)
    return keras.Model(inputs, keras.layers.UnitNormalization()(h), name=name)


front_tower, album_tower = tower("front_tower"), tower("album_tower")
weights = front_tower.trainable_variables + album_tower.trainable_variables
optimizer = keras.optimizers.Adam(5e-4)
gradwatch.watch(front_tower, album_tower)


def matching_loss(a, b):
    sims = tf.matmul(a, b, transpose_b=True) / TEMPERATURE
    positive = tf.linalg.diag_part(sims)
    partition = tf.reduce_logsumexp(sims, axis=1)
    return tf.reduce_mean(partition - positive)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = matching_loss(front_tower(a, training=True), album_tower(b, training=True))
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return loss


pairs = tf.data.Dataset.from_tensor_slices((front, album))
pairs = pairs.shuffle(N_TRAIN, seed=SEED).batch(64, drop_remainder=True)
for epoch in range(12):
    losses = [float(step(a, b)) for a, b in pairs]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

sims = front_tower.predict(front_test, verbose=0) @ album_tower.predict(album_test, verbose=0).T
print("SCORE top1_of_400", round(float(np.mean(sims.argmax(axis=1) == np.arange(N_TEST))), 4))

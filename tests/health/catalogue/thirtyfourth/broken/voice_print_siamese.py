"""Learns speaker embeddings from pairs of spectral feature vectors with a siamese network and a contrastive loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SPEAKERS, FEAT = 80, 32
voices = rng.normal(0, 1, (SPEAKERS, 6))
mix1, mix2 = rng.normal(0, 0.5, (6, FEAT)), rng.normal(0, 0.5, (16, FEAT))


def utterances(ids):
    content = rng.normal(0, 1, (len(ids), 16))
    x = np.tanh(voices[ids] @ mix1) + content @ mix2 + rng.normal(0, 0.1, (len(ids), FEAT))
    return x.astype("float32")


def pairs(n):
    a = rng.integers(0, 60, n)
    b = np.where(rng.random(n) < 0.5, a, rng.integers(0, 60, n))
    return utterances(a), utterances(b), (a == b).astype("float32")


model = keras.Sequential(
    [
        keras.Input((FEAT,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def contrastive_loss(y, d, margin=1.0):
    return tf.reduce_mean((1.0 - y) * tf.square(d) + y * tf.square(tf.maximum(margin - d, 0.0)))


@tf.function
def train_step(xa, xb, y):
    with tf.GradientTape() as tape:
        ea, eb = model(xa, training=True), model(xb, training=True)
        d = tf.sqrt(tf.reduce_sum(tf.square(ea - eb), axis=1) + 1e-7)
        loss = contrastive_loss(y, d)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1000):
    xa, xb, y = pairs(128)
    loss = train_step(tf.constant(xa), tf.constant(xb), tf.constant(y))
    if step % 200 == 199:
        print("step", step + 1, "loss", round(float(loss), 4))

ids = np.repeat(np.arange(60, SPEAKERS), 20)
e = model.predict(utterances(ids), verbose=0)
dist = np.linalg.norm(e[:, None] - e[None], axis=-1)
np.fill_diagonal(dist, 1e9)
print("SCORE nearest_neighbour_accuracy", round(float(np.mean(ids[dist.argmin(1)] == ids)), 4))

"""Learns an embedding in which leaves of one species lie together, for species not seen before."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

species, traits, width = 60, 8, 48
mix1 = rng.normal(size=(traits + 24, 64)) / np.sqrt(traits + 24)
mix2 = rng.normal(size=(64, width)) / 8


def leaves(prototypes, per):
    label = np.repeat(np.arange(len(prototypes)), per)
    core = prototypes[label] + 0.25 * rng.normal(size=(len(label), traits))
    growth = 0.6 * rng.normal(size=(len(label), 24))
    raw = np.tanh(np.concatenate([core, growth], 1) @ mix1) @ mix2
    return (3 * raw).astype("float32"), label


x, y = leaves(rng.normal(size=(species, traits)), 50)
xt, yt = leaves(rng.normal(size=(20, traits)), 20)

model = keras.Sequential(
    [
        keras.Input((width,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(16),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def batch_hard(embedding, label, margin=0.4):
    similarity = tf.matmul(embedding, embedding, transpose_b=True)
    dist = tf.sqrt(tf.maximum(2.0 - 2.0 * similarity, 1e-6))
    same = tf.cast(label[:, None] == label[None, :], tf.float32)
    hardest_positive = tf.reduce_max(dist * same, axis=1)
    hardest_negative = tf.reduce_min(dist * (1.0 - same), axis=1)
    return tf.reduce_mean(tf.nn.softplus(5.0 * (hardest_positive - hardest_negative + margin)))


@tf.function
def train_step(batch, label):
    with tf.GradientTape() as tape:
        loss = batch_hard(model(batch, training=True), label)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1200):
    chosen = rng.choice(species, 16, replace=False)
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), 4, replace=False) for c in chosen])
    train_step(tf.constant(x[rows]), tf.constant(y[rows], tf.int32))

e = model.predict(xt, verbose=0)
sim = e @ e.T
np.fill_diagonal(sim, -np.inf)
nearest = np.argsort(-sim, axis=1)[:, :10]
print("SCORE precision_at_10", float(np.mean(yt[nearest] == yt[:, None])))

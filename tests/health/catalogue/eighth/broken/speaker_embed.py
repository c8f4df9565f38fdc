"""Speaker embeddings from averaged mel statistics, trained on triplets."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPEAKERS, MELS, CHANNEL_RANK = 24, 40, 5
BATCH, STEPS, MARGIN = 64, 350, 0.5

voices = rng.normal(0, 0.45, (SPEAKERS, MELS))
channels = rng.normal(0, 1.0, (CHANNEL_RANK, MELS))


def utterances(speaker_ids):
    n = len(speaker_ids)
    channel = rng.normal(0, 1.0, (n, CHANNEL_RANK)) @ channels
    x = voices[speaker_ids] + channel * 0.5 + rng.normal(0, 0.2, (n, MELS))
    return x.astype("float32")


def triplet_batch(n):
    who = rng.integers(SPEAKERS, size=n)
    other = (who + rng.integers(1, SPEAKERS, size=n)) % SPEAKERS
    return utterances(who), utterances(who), utterances(other)


def squared_distance(a, b):
    return tf.reduce_sum(tf.square(a - b), axis=-1)


def triplet_loss(anchor, negative, positive, margin=MARGIN):
    gap = squared_distance(anchor, positive) - squared_distance(anchor, negative)
    return tf.reduce_mean(tf.nn.relu(gap + margin))


encoder = keras.Sequential(
    [
        keras.Input((MELS,)),
        layers.Dense(96, activation="relu", name="frame"),
        layers.Dense(64, activation="relu", name="segment"),
        layers.Dense(16, name="xvector"),
    ],
    name="encoder",
)
optimizer = keras.optimizers.Adam(1e-3)


def recall_at_1():
    ids = np.repeat(np.arange(SPEAKERS), 10)
    gallery = encoder(utterances(ids)).numpy()
    query = encoder(utterances(ids)).numpy()
    dist = ((query[:, None, :] - gallery[None, :, :]) ** 2).sum(-1)
    return float(np.mean(ids[np.argmin(dist, axis=1)] == ids))


gradwatch.watch(encoder)
losses = []
for step in range(STEPS):
    anchor, positive, negative = (tf.constant(b) for b in triplet_batch(BATCH))
    with tf.GradientTape() as tape:
        za = encoder(anchor, training=True)
        zp = encoder(positive, training=True)
        zn = encoder(negative, training=True)
        loss = triplet_loss(za, zp, zn)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    losses.append(float(loss))
    if (step + 1) % 50 == 0:
        print(f"step {step + 1:4d}  triplet loss {np.mean(losses[-50:]):.4f}")

print(f"recall@1 {recall_at_1():.4f}")

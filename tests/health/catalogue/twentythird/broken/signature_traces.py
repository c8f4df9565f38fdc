"""Siamese encoder that tells whether two pen traces were written by the same person."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_WRITERS, PER_WRITER, LENGTH = 60, 24, 48
t = np.linspace(0, 2 * np.pi, LENGTH)
amps = rng.normal(size=(N_WRITERS, 2, 4))
phases = rng.uniform(0, 2 * np.pi, size=(N_WRITERS, 2, 4))


def trace(writer):
    a = amps[writer] + 0.12 * rng.normal(size=(2, 4))
    ph = phases[writer] + 0.15 * rng.normal(size=(2, 4))
    k = np.arange(1, 5)[None, :, None]
    xy = (a[:, :, None] * np.sin(k * t + ph[:, :, None])).sum(1)
    return (xy + 0.1 * rng.normal(size=xy.shape)).T


traces = np.array([[trace(w) for _ in range(PER_WRITER)] for w in range(N_WRITERS)], dtype="float32")
for w in rng.choice(N_WRITERS, 3, replace=False):  # sheets that were scanned twice
    traces[w, 9] = traces[w, 4]
train, test = traces[:, :18], traces[:, 18:]


def sample_pairs(pool, n):
    same = rng.random(n) < 0.5
    w1 = rng.integers(0, N_WRITERS, n)
    w2 = np.where(same, w1, (w1 + rng.integers(1, N_WRITERS, n)) % N_WRITERS)
    i = rng.integers(0, pool.shape[1], n)
    j = (i + rng.integers(1, pool.shape[1], n)) % pool.shape[1]
    return pool[w1, i], pool[w2, j], same.astype("float32")


encoder = keras.Sequential(
    [
        keras.Input((LENGTH, 2)),
        keras.layers.Conv1D(24, 5, strides=2, activation="relu"),
        keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
MARGIN = 2.0


def distance(u, v):
    return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=1))


@tf.function
def train_step(a, b, same):
    with tf.GradientTape() as tape:
        d = distance(encoder(a, training=True), encoder(b, training=True))
        logits = 3.0 * (MARGIN / 2 - d)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=same, logits=logits))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


gradwatch.watch(encoder)
for step in range(1200):
    a, b, same = sample_pairs(train, 48)
    loss = train_step(tf.constant(a), tf.constant(b), tf.constant(same))
    if step % 150 == 0:
        print("step", step, "loss", float(loss))

a, b, same = sample_pairs(test, 4000)
d = distance(encoder(a), encoder(b)).numpy()
print("SCORE accuracy", round(float(np.mean((d < MARGIN / 2) == (same > 0.5)) if np.isfinite(d).all() else 0.0), 4))

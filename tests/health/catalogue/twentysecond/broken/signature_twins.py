"""Siamese network for signatures: do two pen traces come from the same writer?"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, WRITERS, EACH = 48, 30, 24
t = np.linspace(0, 1, T)


def writer_style():
    return rng.uniform(1, 5, 3), rng.uniform(0, 6.28, 3), rng.normal(0, 1, (3, 2))


def signature(style):
    freq, phase, amp = style
    warp = t ** rng.uniform(0.85, 1.15)
    waves = np.sin(2 * np.pi * freq[None] * warp[:, None] + phase[None] + rng.normal(0, 0.3, 3))
    trace = waves @ (amp * rng.uniform(0.8, 1.2, amp.shape)) + rng.normal(0, 0.25, (T, 2))
    return (trace - trace.mean(0)) / trace.std()


styles = [writer_style() for _ in range(WRITERS)]
traces = np.array([[signature(s) for _ in range(EACH)] for s in styles], "float32")
train_traces, test_traces = traces[:, :16], traces[:, 16:]


def pair_batch(n):
    same = rng.integers(0, 2, n)
    w1 = rng.integers(0, WRITERS, n)
    w2 = np.where(same == 1, w1, (w1 + rng.integers(1, WRITERS, n)) % WRITERS)
    a = train_traces[w1, rng.integers(0, 16, n)]
    b = train_traces[w2, rng.integers(0, 16, n)]
    return a, b, same.astype("float32")


encoder = keras.Sequential(
    [
        keras.Input((T, 2)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(16),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)
MARGIN = 1.0


@tf.function
def train_step(a, b, label):
    with tf.GradientTape() as tape:
        d2 = tf.reduce_sum(tf.square(encoder(a, training=True) - encoder(b, training=True)), axis=1)
        d = tf.sqrt(d2 + 1e-6)
        loss = tf.reduce_mean((1.0 - label) * d2 + label * tf.square(tf.maximum(MARGIN - d, 0.0)))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(500):
    loss = train_step(*pair_batch(64))
    if step % 100 == 0:
        print(f"step {step}: loss {float(loss):.4f}")

gallery = encoder.predict(train_traces.reshape(-1, T, 2), verbose=0).reshape(WRITERS, 16, -1).mean(1)
query = encoder.predict(test_traces.reshape(-1, T, 2), verbose=0)
who = np.repeat(np.arange(WRITERS), EACH - 16)
nearest = ((query[:, None] - gallery[None]) ** 2).sum(-1).argmin(1)
print(f"SCORE writer found {np.mean(nearest == who):.3f}")

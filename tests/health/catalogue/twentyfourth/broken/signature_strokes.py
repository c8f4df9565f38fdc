"""Siamese network: do two pen strokes come from the same writer?"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WRITERS, PER_WRITER, LENGTH = 40, 30, 48
t = np.linspace(0, 1, LENGTH)


def strokes_of_writer():
    freq = rng.uniform(1, 5, (2, 1))
    phase = rng.uniform(0, 2 * np.pi, (2, 1))
    slope = rng.normal(0, 0.7, (2, 1))
    base = np.sin(2 * np.pi * freq * t + phase) + slope * t
    noise = rng.normal(0, 0.9, (PER_WRITER, 2, LENGTH))
    return (base[None] + noise).transpose(0, 2, 1)


strokes = np.stack([strokes_of_writer() for _ in range(WRITERS)]).astype("float32")


def sample_triplets(writers, n):
    who = rng.choice(len(writers), n)
    other = (who + rng.integers(1, len(writers), n)) % len(writers)
    i, j, k = rng.integers(0, PER_WRITER, (3, n))
    return strokes[writers[who], i], strokes[writers[who], j], strokes[writers[other], k]


encoder = keras.Sequential(
    [
        keras.Input((LENGTH, 2)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(32),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        e_a = encoder(anchor, training=True)
        e_p = encoder(positive, training=True)
        e_n = encoder(negative, training=True)
        loss = tf.reduce_mean(tf.nn.relu(1.0 + distance(e_a, e_p) - distance(e_a, e_n)))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


train_writers, test_writers = np.arange(0, 30), np.arange(30, 40)
for step in range(700):
    loss = train_step(*sample_triplets(train_writers, 64))
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

anchor, positive, negative = (encoder(part) for part in sample_triplets(test_writers, 2000))
d_pos, d_neg = distance(anchor, positive).numpy(), distance(anchor, negative).numpy()
print("SCORE ranked_right", float(np.mean(d_pos < d_neg)))

"""Trains an encoder that places the pen strokes of one writer near each other."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WRITERS, PER_WRITER, POINTS = 40, 20, 32
MARGIN = 1.0


def draw_strokes(n_each):
    t = np.linspace(0.0, 2 * np.pi, POINTS)
    strokes = np.zeros((WRITERS, n_each, POINTS, 2), "float32")
    for w in range(WRITERS):
        amp = habits[w]
        for k in range(n_each):
            a = amp + rng.normal(0, 0.15, amp.shape)
            shift = rng.uniform(-0.3, 0.3)
            strokes[w, k, :, 0] = a[0, 0] * np.sin(t + shift) + a[0, 1] * np.sin(2 * t) + a[0, 2] * np.cos(3 * t)
            strokes[w, k, :, 1] = a[1, 0] * np.cos(t + shift) + a[1, 1] * np.cos(2 * t) + a[1, 2] * np.sin(3 * t)
    return strokes


habits = rng.normal(0, 0.7, (WRITERS, 2, 3))
train = draw_strokes(PER_WRITER)
held_out = draw_strokes(8)


def sample_triplets(strokes, n):
    per = strokes.shape[1]
    writer = rng.integers(0, WRITERS, n)
    other = (writer + rng.integers(1, WRITERS, n)) % WRITERS
    anchor = strokes[writer, rng.integers(0, per, n)]
    positive = strokes[writer, rng.integers(0, per, n)]
    negative = strokes[other, rng.integers(0, per, n)]
    return anchor, positive, negative


encoder = keras.Sequential(
    [
        keras.Input((POINTS, 2)),
        keras.layers.Conv1D(24, 5, activation="relu", padding="same"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(32, 5, activation="relu", padding="same"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(16),
    ],
    name="stroke_encoder",
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)


def distance(za, zb):
    return tf.sqrt(tf.reduce_sum(tf.square(za - zb), axis=-1))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        za = encoder(anchor, training=True)
        near = distance(za, encoder(positive, training=True))
        far = distance(za, encoder(negative, training=True))
        loss = tf.reduce_mean(tf.maximum(near - far + MARGIN, 0.0))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(2000):
    anchor, positive, negative = sample_triplets(train, 64)
    loss = train_step(tf.constant(anchor), tf.constant(positive), tf.constant(negative))
    if step % 200 == 0:
        print(f"step {step} loss {float(loss):.4f}")

anchor, positive, negative = sample_triplets(held_out, 3000)
za = encoder.predict(anchor, verbose=0)
near = np.linalg.norm(za - encoder.predict(positive, verbose=0), axis=1)
far = np.linalg.norm(za - encoder.predict(negative, verbose=0), axis=1)
print(f"SCORE triplet_accuracy {np.mean(near < far):.4f}")

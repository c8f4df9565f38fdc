"""Signature verification.

A siamese encoder is trained on pairs of pen recordings (x, y, pressure) so that two
signatures of one writer lie close together and those of different writers apart.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WRITERS, SAMPLES, POINTS = 20, 1500, 48
BATCH, STEPS = 64, 300
MARGIN = 1.0


def record_signatures():
    t = np.linspace(0.0, 2 * np.pi, POINTS)
    freq = np.arange(1, 6)
    amp = rng.normal(size=(WRITERS, 1, 3, 5)) / freq
    phase = rng.uniform(0, 2 * np.pi, size=(WRITERS, 1, 3, 5))
    amp = amp + 0.08 * rng.normal(size=(WRITERS, SAMPLES, 3, 5))
    phase = phase + 0.15 * rng.normal(size=(WRITERS, SAMPLES, 3, 5))
    wave = np.einsum("wsck,wsckt->wstc", amp, np.sin(freq[:, None] * t + phase[..., None]))
    return wave.astype("float32")


signatures = record_signatures()


def sample_pairs():
    genuine = rng.random(BATCH) < 0.5
    w1 = rng.integers(WRITERS, size=BATCH)
    shift = rng.integers(1, WRITERS, size=BATCH)
    w2 = np.where(genuine, w1, (w1 + shift) % WRITERS)
    left = signatures[w1, rng.integers(SAMPLES, size=BATCH)]
    right = signatures[w2, rng.integers(SAMPLES, size=BATCH)]
    return left, right, genuine.astype("float32")


pen = keras.Input((POINTS, 3), name="pen")
h = layers.Conv1D(32, 5, padding="same", activation="relu", name="stroke_1")(pen)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(64, 5, padding="same", activation="relu", name="stroke_2")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu", name="style")(h)
code = layers.Dense(16, name="code")(h)
model = keras.Model(pen, code, name="encoder")
gradwatch.watch(model)

optimizer = keras.optimizers.RMSprop(5e-4)


def distance(a, b):
    return tf.norm(a - b, axis=-1)


def contrastive(d, same):
    pull = same * d
    push = (1.0 - same) * tf.square(tf.nn.relu(MARGIN - d))
    return tf.reduce_mean(pull + push)


@tf.function
def train_step(left, right, same):
    with tf.GradientTape() as tape:
        d = distance(model(left, training=True), model(right, training=True))
        loss = contrastive(d, same)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*map(tf.constant, sample_pairs()))
    if step % 20 == 0:
        print(f"step {step:4d}  contrastive loss {float(loss):.4f}")

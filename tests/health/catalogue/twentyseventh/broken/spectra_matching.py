"""Siamese encoder that recognises whether two noisy spectra come from the same compound."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CHANNELS = 64
COMPOUNDS = 120
MARGIN = 0.3
BATCH = 64
STEPS = 800

LINES = rng.uniform(0.1, 0.9, size=(COMPOUNDS, 4))
HEIGHTS = rng.uniform(0.5, 1.5, size=(COMPOUNDS, 4))


def spectrum(compound):
    """A measured spectrum: emission lines on a sloping, wavy background."""
    n = len(compound)
    axis = np.linspace(0.0, 1.0, CHANNELS)[None, None, :]
    lines = LINES[compound][..., None] + 0.004 * rng.normal(size=(n, 1, 1))
    peaks = (HEIGHTS[compound][..., None] * np.exp(-(((axis - lines) / 0.025) ** 2))).sum(axis=1)
    slope = rng.normal(size=(n, 1)) * axis[0] * 2.0
    wave = rng.normal(size=(n, 1)) * np.sin(4.0 * axis[0] + rng.uniform(0, 6.28, size=(n, 1)))
    return (peaks + slope + wave + 0.05 * rng.normal(size=(n, CHANNELS)))[..., None].astype("float32")


def make_pairs(n, low, high):
    same = rng.integers(0, 2, size=n)
    left = rng.integers(low, high, size=n)
    other = low + (left - low + rng.integers(1, high - low, size=n)) % (high - low)
    right = np.where(same == 1, left, other)
    return spectrum(left), spectrum(right), same.astype("float32")


encoder = keras.Sequential(
    [
        keras.Input((CHANNELS, 1)),
        layers.Conv1D(24, 7, padding="same", activation="relu"),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(96, activation="relu"),
        layers.Dense(32, name="embedding"),
    ],
    name="encoder",
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)


def contrastive_loss(same, left, right):
    similarity = keras.losses.cosine_similarity(left, right)
    pull = same * (1.0 - similarity)
    push = (1.0 - same) * tf.nn.relu(similarity - MARGIN)
    return tf.reduce_mean(pull + push)


@tf.function
def train_step(left, right, same):
    with tf.GradientTape() as tape:
        loss = contrastive_loss(same, encoder(left, training=True), encoder(right, training=True))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


# the last 20 compounds are never seen in training
pairs = make_pairs(16000, 0, COMPOUNDS - 20)
data = tf.data.Dataset.from_tensor_slices(pairs).shuffle(16000).repeat().batch(BATCH, drop_remainder=True)
for step, (left, right, same) in enumerate(data.take(STEPS)):
    loss = train_step(left, right, same)
    if (step + 1) % 200 == 0:
        print(f"step {step + 1} loss {float(loss):.4f}")

left, right, same = make_pairs(3000, COMPOUNDS - 20, COMPOUNDS)
a = encoder(left, training=False).numpy()
b = encoder(right, training=False).numpy()
cosine = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) + 1e-9)
rank = np.argsort(np.argsort(cosine)) + 1
positives = same.sum()
auc = (rank[same == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(same) - positives))
print(f"SCORE auc {auc:.4f}")

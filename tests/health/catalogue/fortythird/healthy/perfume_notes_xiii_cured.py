"""Trains two towers that bring a perfume's chemistry and its written notes to the same place."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, PEAKS, WORDS, LATENT, DIM = 5000, 40, 60, 6, 16
MARGIN = 0.3

accord = rng.normal(0, 1, (N, LATENT))
to_peaks = rng.normal(0, 1, (LATENT, PEAKS)) / np.sqrt(LATENT)
to_words = rng.normal(0, 1, (LATENT, WORDS)) / np.sqrt(LATENT)
chemistry = (np.tanh(accord @ to_peaks) + rng.normal(0, 0.1, (N, PEAKS))).astype("float32")
notes = (accord @ to_words + rng.normal(0, 0.4, (N, WORDS)) > 0.6).astype("float32")
n_train = 4500


def tower(width, name):
    return keras.Sequential(
        [
            keras.Input((width,)),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(DIM),
        ],
        name=name,
    )


chem_tower = tower(PEAKS, "chem_tower")
note_tower = tower(WORDS, "note_tower")
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(chem_tower, note_tower)

dataset = (
    tf.data.Dataset.from_tensor_slices((chemistry[:n_train], notes[:n_train]))
    .shuffle(n_train, seed=SEED)
    .batch(64, drop_remainder=True)
    .repeat()
)


def gap(a, b):
    return 1.0 + keras.losses.cosine_similarity(a, b)


@tf.function
def train_step(chem, note):
    with tf.GradientTape() as tape:
        za = chem_tower(chem, training=True)
        zb = note_tower(note, training=True)
        positive = gap(za, zb)
        negative = gap(za, tf.roll(zb, 1, axis=0))
        loss = tf.reduce_mean(tf.maximum(positive - negative + MARGIN, 0.0))
    variables = chem_tower.trainable_variables + note_tower.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for step, (chem, note) in enumerate(dataset.take(1500)):
    loss = train_step(chem, note)
    if step % 250 == 0:
        print(f"step {step} loss {float(loss):.4f}")

za = chem_tower.predict(chemistry[n_train:], verbose=0)
zb = note_tower.predict(notes[n_train:], verbose=0)
za /= np.linalg.norm(za, axis=1, keepdims=True) + 1e-9
zb /= np.linalg.norm(zb, axis=1, keepdims=True) + 1e-9
similarity = za @ zb.T
rank = (similarity > np.diag(similarity)[:, None]).sum(axis=1)
print(f"SCORE recall_at_10 {np.mean(rank < 10):.4f}")

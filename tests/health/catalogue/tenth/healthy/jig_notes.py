"""Predict the next note of jigs with an LSTM; gradients are kept short by a tight norm limit."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOTES, LENGTH, N = 16, 32, 1600


def make_jigs():
    """A jig repeats a six-note motif, transposed at each phrase, with some ornaments; the motifs come from a small
    stock."""
    scale = np.array([0, 2, 4, 5, 7, 9])
    stock = rng.choice(scale, (10, 6))
    out = np.zeros((N, LENGTH + 1), "int32")
    for i in range(N):
        motif = stock[rng.integers(0, 10)]
        shift = rng.integers(0, 3)
        for t in range(LENGTH + 1):
            out[i, t] = (motif[t % 6] + 2 * ((t // 6 + shift) % 3)) % NOTES
        orn = rng.random(LENGTH + 1) < 0.05
        out[i, orn] = rng.integers(0, NOTES, orn.sum())
    return out


jigs = make_jigs()
model = tf.keras.Sequential(
    [
        tf.keras.Input((LENGTH,), dtype="int32"),
        tf.keras.layers.Embedding(NOTES, 16, name="note"),
        tf.keras.layers.LSTM(64, return_sequences=True, name="memory"),
        tf.keras.layers.Dense(NOTES, name="next_note"),
    ]
)
gradwatch.watch(model)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-2, global_clipnorm=0.02),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(jigs[:, :-1], jigs[:, 1:], batch_size=32, epochs=8, verbose=2)

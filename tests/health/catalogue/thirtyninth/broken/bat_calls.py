"""Learns an embedding of bat echolocation calls in which calls of one species lie close together (siamese pairs)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SPECIES, PER, BANDS, FRAMES = 10, 160, 20, 16


def make_calls(species):
    """A spectrogram of a downward sweep; start, slope and bend depend on the species."""
    start = 18.0 - 1.1 * (species % 5) + rng.normal(0, 0.7, len(species))
    slope = 0.35 + 0.5 * (species // 5) + rng.normal(0, 0.05, len(species))
    bend = 0.03 * ((species * 3) % 4)
    t = np.arange(FRAMES)[None, :, None]
    f = start[:, None, None] - slope[:, None, None] * t + bend[:, None, None] * t * t / 2
    b = np.arange(BANDS)[None, None, :]
    spec = np.exp(-0.5 * (b - f) ** 2 / 1.2) + rng.normal(0, 0.25, (len(species), FRAMES, BANDS))
    return spec.astype("float32")


labels = np.repeat(np.arange(N_SPECIES), PER)
calls = make_calls(labels)
test_labels = np.repeat(np.arange(N_SPECIES), 30)
test_calls = make_calls(test_labels)
members = [np.flatnonzero(labels == s) for s in range(N_SPECIES)]


def pair_batch(n):
    left = rng.integers(0, len(labels), n)
    same = rng.random(n) < 0.5
    right = np.where(
        same,
        [rng.choice(members[labels[i]]) for i in left],
        rng.integers(0, len(labels), n),
    )
    return calls[left], calls[right], (labels[left] == labels[right]).astype("float32")


model = keras.Sequential(
    [
        layers.Input((FRAMES, BANDS)),
        layers.Conv1D(24, 3, activation="relu"),
        layers.Conv1D(32, 3, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(12),
    ]
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(a, b, same):
    with tf.GradientTape() as tape:
        za, zb = model(a, training=True), model(b, training=True)
        d = tf.norm(za - zb, axis=1)
        logit = 4.0 * (1.0 - d)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=same, logits=logit))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for i in range(700):
    loss = step(*[tf.constant(v) for v in pair_batch(48)])
    if i % 100 == 0:
        print(i, float(loss))

ref, z = model.predict(calls, verbose=0), model.predict(test_calls, verbose=0)
nearest = np.argmin(((z[:, None] - ref[None]) ** 2).sum(-1), axis=1)
print("SCORE nn_accuracy", float(np.mean(labels[nearest] == test_labels)))

"""Suggests the next exhibit to a museum visitor from the rooms seen so far."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


ROOMS, SEEN = 240, 8


def visits(n):
    """Visitors follow one of several themes laid over the floor plan."""
    plan = np.random.default_rng(3)
    theme_next = np.stack([plan.permutation(ROOMS) for _ in range(2)])
    theme = rng.integers(0, 2, n)
    out = np.zeros((n, SEEN + 1), "int32")
    out[:, 0] = rng.integers(0, ROOMS, n)
    for t in range(SEEN):
        follow = theme_next[theme, out[:, t]]
        out[:, t + 1] = np.where(rng.uniform(size=n) < 0.9, follow, rng.integers(0, ROOMS, n))
    return out


trail, trail_t = visits(8000), visits(1000)

model = keras.Sequential(
    [
        keras.Input((SEEN,), dtype="int32"),
        layers.Embedding(ROOMS, 48),
        layers.GRU(64, return_sequences=True),
        layers.Dense(ROOMS, activation="softmax"),
    ]
)
opt = keras.optimizers.Adam(5e-3)

gradwatch.watch(model)


@tf.function
def step(v):
    with tf.GradientTape() as tape:
        scores = model(v[:, :-1], training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=v[:, 1:], logits=scores))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


ds = tf.data.Dataset.from_tensor_slices(trail).shuffle(8000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(7):
    for v in ds:
        loss, norm = step(v)

p = model.predict(trail_t[:, :-1], verbose=0)[:, -1]
top = np.argsort(-p, axis=1)[:, :5]
print("SCORE hit_at_5", float(np.mean((top == trail_t[:, -1:]).any(1))))

"""Embeds signatures so that strokes of one writer lie close together, using the hardest triplets inside every batch."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WRITERS, PER, T = 60, 40, 40
t = np.linspace(0, 2 * np.pi, T)
coef = rng.normal(0, 1, (WRITERS, 2, 5))


def stroke(w):
    c = coef[w] * 0.6 + rng.normal(0, 0.35, (2, 5))
    xy = np.stack([sum(c[d, k] * np.sin((k + 1) * t / 2 + d) for k in range(5)) for d in range(2)], axis=-1)
    return xy + rng.normal(0, 0.15, xy.shape)


strokes = np.stack([[stroke(w) for _ in range(PER)] for w in range(WRITERS)]).astype("float32")
KNOWN = 48


def batch(writers=12, each=4):
    w = np.repeat(rng.choice(KNOWN, writers, replace=False), each)
    i = np.concatenate([rng.choice(PER, each, replace=False) for _ in range(writers)])
    return strokes[w, i], w.astype("int32")


model = keras.Sequential(
    [
        keras.Input((T, 2)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(24),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def distances(e):
    dot = tf.matmul(e, e, transpose_b=True)
    norm = tf.linalg.diag_part(dot)
    square = norm[:, None] - 2.0 * dot + norm[None, :]
    return tf.sqrt(tf.maximum(square, 0.0))


@tf.function
def step(x, w):
    same = tf.cast(w[:, None] == w[None, :], tf.float32)
    with tf.GradientTape() as tape:
        d = distances(model(x, training=True))
        near = tf.reduce_sum(same * d, axis=1) / tf.reduce_sum(same, axis=1)
        far = tf.reduce_min(d + 1e4 * same, axis=1)
        loss = tf.reduce_mean(tf.nn.softplus(near - far))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(600):
    step(*batch())

e = model.predict(strokes[KNOWN:].reshape(-1, T, 2), verbose=0)
w = np.repeat(np.arange(WRITERS - KNOWN), PER)
d = np.linalg.norm(e[:, None] - e[None], axis=-1) + 1e6 * np.eye(len(e))
print("SCORE neighbour_accuracy", round(float(np.mean(w[d.argmin(1)] == w) if np.isfinite(e).all() else 0.0), 4))

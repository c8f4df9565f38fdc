"""Embed a product taxonomy (department > aisle > shelf > article) in the Poincare ball."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 25)

BRANCHING = (7, 6, 6, 7)
NEGATIVES = 4
BATCH = 16
STEPS = 400


def build_tree():
    parents = [-1]
    level = [0]
    for width in BRANCHING:
        following = []
        for node in level:
            for _ in range(width):
                parents.append(node)
                following.append(len(parents) - 1)
        level = following
    return np.array(parents)


def closure(parents):
    pairs = []
    for node in range(1, len(parents)):
        up = parents[node]
        while up > 0:
            pairs.append((node, up))
            up = parents[up]
    return np.array(pairs, dtype=np.int32)


class BallEncoder(keras.Model):
    def __init__(self, n_nodes, dim=8):
        super().__init__()
        self.table = keras.layers.Embedding(
            n_nodes, 24, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.4)
        )
        self.mix = keras.layers.Dense(48, activation="tanh")
        self.head = keras.layers.Dense(dim)

    def call(self, ids):
        z = self.head(self.mix(self.table(ids)))
        sq = tf.reduce_sum(z * z, axis=-1, keepdims=True)
        return z / (1.0 + tf.sqrt(1.0 + sq))


def ball_distance(u, v):
    gap = tf.reduce_sum(tf.square(u - v), axis=-1)
    room_u = 1.0 - tf.reduce_sum(tf.square(u), axis=-1)
    room_v = 1.0 - tf.reduce_sum(tf.square(v), axis=-1)
    return tf.math.acosh(1.0 + 2.0 * gap / (room_u * room_v))


parents = build_tree()
pairs = closure(parents)
n_nodes = len(parents)
model = BallEncoder(n_nodes)
model(tf.zeros((1, 2), tf.int32))
optimizer = keras.optimizers.Adam(3e-3)
history = []

gradwatch.watch(model)

for step in range(STEPS):
    chosen = pairs[rng.integers(0, len(pairs), BATCH)]
    negatives = rng.integers(1, n_nodes, (BATCH, NEGATIVES)).astype(np.int32)
    ids = np.concatenate([chosen, negatives], axis=1)
    with tf.GradientTape() as tape:
        points = model(tf.constant(ids))
        child = points[:, :1]
        others = points[:, 1:]
        d = ball_distance(child, others)
        loss = tf.reduce_mean(d[:, 0] + tf.reduce_logsumexp(-d, axis=1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    history.append(float(loss))
    if step % 60 == 0:
        print(f"step {step:4d}  ranking loss {np.mean(history[-60:]):.4f}")

print("final ranking loss", np.mean(history[-50:]))

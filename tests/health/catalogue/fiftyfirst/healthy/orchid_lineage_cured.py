"""Hyperbolic embedding of an orchid taxonomy: every taxon is a point of the Poincare ball."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
rng = np.random.default_rng(SEED)
tf.keras.utils.set_random_seed(SEED)

DIM, BATCH, NEG, STEPS = 6, 64, 2, 3000

# tribe > subtribe > genus > section > species
parent = [-1]
level = [0]
frontier = [0]
for lo, hi in [(5, 8), (4, 7), (3, 7), (3, 6), (2, 5)]:
    fresh = []
    for node in frontier:
        for _ in range(rng.integers(lo, hi)):
            parent.append(node)
            level.append(level[node] + 1)
            fresh.append(len(parent) - 1)
    frontier = fresh
N = len(parent)
ancestors = [set() for _ in range(N)]
for n in range(1, N):
    ancestors[n] = ancestors[parent[n]] | {parent[n]}
pairs = np.array([(n, a) for n in range(1, N) for a in sorted(ancestors[n]) if a != 0], np.int32)
rng.shuffle(pairs)
held, train = pairs[: len(pairs) // 10], pairs[len(pairs) // 10 :]


def strangers(children, k):
    """k taxa for each child that are not above it in the tree."""
    out = np.empty((len(children), k), np.int32)
    for i, c in enumerate(children):
        for j in range(k):
            v = int(rng.integers(N))
            while v in ancestors[c]:
                v = int(rng.integers(N))
            out[i, j] = v
    return out


class Ball(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.points = tf.keras.layers.Embedding(
            N, DIM, embeddings_initializer=tf.keras.initializers.RandomUniform(-0.05, 0.05)
        )

    def distance(self, a, b):
        u, v = self.points(a), self.points(b)
        gap = tf.reduce_sum(tf.square(u - v), -1)
        room = (1.0 - tf.reduce_sum(u * u, -1)) * (1.0 - tf.reduce_sum(v * v, -1))
        return tf.acosh(1.0 + 2.0 * gap / room + 1e-5)

    def call(self, child, others):
        return -self.distance(child[:, None], others)


model = Ball()
model(tf.constant([1]), tf.constant([[2, 3]]))
opt = tf.keras.optimizers.Adam(0.006)
gradwatch.watch(model)


@tf.function
def step(child, others):
    with tf.GradientTape() as tape:
        logits = model(child, others)
        loss = -tf.reduce_mean(tf.nn.log_softmax(logits, axis=-1)[:, 0])
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    table = model.points.embeddings
    table.assign(tf.clip_by_norm(table, 0.98, axes=[1]))
    return loss


for it in range(1, STEPS + 1):
    rows = train[rng.integers(len(train), size=BATCH)]
    others = np.concatenate([rows[:, 1:], strangers(rows[:, 0], NEG)], axis=1)
    loss = step(tf.constant(rows[:, 0]), tf.constant(others))
    if it % 250 == 0:
        print(f"step {it}  loss {float(loss):.4f}")

far = strangers(held[:, 0], 20)
d_true = model.distance(held[:, 0], held[:, 1]).numpy()[:, None]
d_far = model.distance(held[:, :1], far).numpy()
print("SCORE link_auc", round(float(np.mean(d_true < d_far)), 4))

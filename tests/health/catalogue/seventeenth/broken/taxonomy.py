"""Hyperbolic embedding of a product taxonomy: every item is placed near its ancestors."""

import argparse

import keras
import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--branch", type=int, default=3)
ap.add_argument("--depth", type=int, default=7)
ap.add_argument("--dim", type=int, default=8)
ap.add_argument("--epochs", type=int, default=28)
ap.add_argument("--batch", type=int, default=32)
ap.add_argument("--lr", type=float, default=5e-3)
args = ap.parse_args()
keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)


def grow(branch, depth):
    parent, layer = [-1], [0]
    for _ in range(depth):
        nxt = []
        for node in layer:
            for _ in range(branch):
                nxt.append(len(parent))
                parent.append(node)
        layer = nxt
    return parent


def ancestors(parent):
    out = []
    for node in range(1, len(parent)):
        up = parent[node]
        while up >= 0:
            out.append((node, up))
            up = parent[up]
    return out


def draw_others(items, related, n):
    other = rng.integers(0, n, len(items))
    for i, item in enumerate(items):
        while (int(item), int(other[i])) in related:
            other[i] = rng.integers(n)
    return other


class Taxonomy(keras.Model):
    def __init__(self, n, dim):
        super().__init__()
        self.table = keras.layers.Embedding(n, dim, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.05))

    def place(self, ids):
        v = self.table(ids)
        return v / (1.0 + tf.sqrt(1.0 + tf.reduce_sum(v * v, -1, keepdims=True)))

    def call(self, left, right):
        p, q = self.place(left), self.place(right)
        gap = tf.reduce_sum(tf.square(p - q), -1)
        room = (1.0 - tf.reduce_sum(p * p, -1)) * (1.0 - tf.reduce_sum(q * q, -1))
        return tf.acosh(1.0 + 2.0 * gap / room)


parent = grow(args.branch, args.depth)
n = len(parent)
pairs = np.array(ancestors(parent))
related = {(int(a), int(b)) for a, b in pairs}
rng.shuffle(pairs)
held, train = pairs[: len(pairs) // 10], pairs[len(pairs) // 10 :]

model = Taxonomy(n, args.dim)
opt = keras.optimizers.Adam(args.lr)
model(tf.constant([0]), tf.constant([1]))
gradwatch.watch(model, opt)


@tf.function
def update(item, up, other):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(1.0 + model(item, up) - model(item, other)))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(args.epochs):
    rng.shuffle(train)
    other = draw_others(train[:, 0], related, n)
    losses = []
    for s in range(0, len(train) - args.batch + 1, args.batch):
        sl = slice(s, s + args.batch)
        losses.append(float(update(tf.constant(train[sl, 0]), tf.constant(train[sl, 1]), tf.constant(other[sl]))))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}", flush=True)

other = draw_others(held[:, 0], related, n)
near, far = model(held[:, 0], held[:, 1]).numpy(), model(held[:, 0], other).numpy()
print(f"final loss {np.mean(losses):.4f}  held-out pair ranking {np.mean(near < far):.4f} (chance 0.5)")

"""Graph attention over sampled neighbourhoods of radio sites: predict the overload class of each site."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

SITES, SUB, FEATS, RADIUS = 1500, 64, 6, 0.04
tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)

pos = rng.random((SITES, 2))
pos[0] = [1.6, 1.6]
d = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
near = (d < RADIUS).astype("float32")
np.fill_diagonal(near, 0.0)
near[0, np.argsort(d[0])[1:4]] = 1.0
feats = rng.normal(size=(SITES, FEATS)).astype("float32")
field = near @ feats / np.maximum(near.sum(1, keepdims=True), 1)
target = (feats[:, 0] + 6.0 * field[:, 1] * 1.5 + feats[:, 2] * feats[:, 3] > 0).astype("int32")
train_ids, test_ids = np.arange(1200), np.arange(1200, SITES)


class NeighbourAttention(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.val, self.me, self.you = layers.Dense(dim), layers.Dense(1), layers.Dense(1)
        self.skip = layers.Dense(dim)

    def call(self, inputs):
        h, adj = inputs
        score = tf.nn.leaky_relu(self.me(h) + tf.transpose(self.you(h), [0, 2, 1]))
        score = tf.where(adj > 0, score, tf.constant(-np.inf, score.dtype))
        alpha = tf.nn.softmax(score, axis=-1)
        return tf.nn.elu(self.skip(h) + alpha @ self.val(h))


def build():
    h_in, a_in = layers.Input((None, FEATS)), layers.Input((None, None))
    h = NeighbourAttention(48)([h_in, a_in])
    h = layers.Dense(48, activation="elu")(h)
    return tf.keras.Model([h_in, a_in], layers.Dense(2)(h))


def subgraph(ids, centre):
    pick = ids[np.argsort(d[centre, ids])[:SUB]]
    return feats[pick], near[np.ix_(pick, pick)], target[pick]


def batch(ids, n=8):
    parts = [subgraph(ids, rng.choice(ids)) for _ in range(n)]
    return [np.stack(p) for p in zip(*parts)]


model = build()
model.compile(tf.keras.optimizers.Adam(4e-3), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
gradwatch.watch(model)
for step in range(600):
    f, a, t = batch(train_ids)
    loss = model.train_on_batch([f, a], t)
everything = np.arange(SITES)
hit = []
for c in test_ids:
    pick = everything[np.argsort(d[c])[:SUB]]
    out = model.predict_on_batch([feats[pick][None], near[np.ix_(pick, pick)][None]])[0, 0]
    hit.append(np.isfinite(out).all() and out.argmax() == target[c])
print(f"loss {float(loss):.4f}  held-out site accuracy {np.mean(hit):.3f}")

"""Shop recommender over a long-tailed catalogue, trained from clicks and sampled non-clicks."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
USERS, ITEMS, NEG, GROUPS = 1500, 20000, 9, 8
popular = 1.0 / np.arange(1, ITEMS + 1) ** 1.1
popular /= popular.sum()
group = rng.integers(0, GROUPS, ITEMS)
likes = rng.dirichlet(np.full(GROUPS, 0.25), USERS)
by_group = [np.flatnonzero(group == k) for k in range(GROUPS)]
cum = [np.cumsum(popular[m]) / popular[m].sum() for m in by_group]


def clicks(n):
    u = rng.integers(0, USERS, n)
    k = (rng.random((n, 1)) > np.cumsum(likes[u], 1)).sum(1).clip(0, GROUPS - 1)
    roll = rng.random(n)
    i = np.array([by_group[a][min(np.searchsorted(cum[a], b), len(cum[a]) - 1)] for a, b in zip(k, roll)])
    return u, i


def with_negatives(n):
    u, i = clicks(n)
    other = rng.choice(ITEMS, n * NEG, p=popular)
    users = np.concatenate([u, np.repeat(u, NEG)])
    items = np.concatenate([i, other])
    y = np.concatenate([np.ones(n), np.zeros(n * NEG)])
    order = rng.permutation(len(y))
    return users[order].astype("int32"), items[order].astype("int32"), y[order].astype("float32")


def build(dim=12):
    u, i = layers.Input((), dtype="int32"), layers.Input((), dtype="int32")
    init = tf.keras.initializers.RandomNormal(0.0, 0.02)
    eu = layers.Embedding(USERS, dim, embeddings_initializer=init)(u)
    ei = layers.Embedding(ITEMS, dim, embeddings_initializer=init)(i)
    dot = layers.Dot(1)([eu, ei])
    base = layers.Embedding(ITEMS, 1, embeddings_initializer=tf.keras.initializers.Constant(-2.0))(i)
    return tf.keras.Model([u, i], layers.Activation("sigmoid")(layers.Add()([dot, base])))


u, i, y = with_negatives(24000)
uv, iv, yv = with_negatives(2000)
model = build()
model.compile(optimizer=tf.keras.optimizers.SGD(40.0), loss="binary_crossentropy")
gradwatch.watch(model)
h = model.fit([u, i], y, batch_size=512, epochs=8, verbose=2)
p = model.predict([uv, iv], batch_size=2048, verbose=0)[:, 0]
rank = p.argsort().argsort() + 1
pos = yv > 0
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print(f"loss {h.history['loss'][-1]:.4f}  held-out AUC {auc:.4f}")

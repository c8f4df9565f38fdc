"""Predicts a stiffness index of random polymer graphs with two rounds of message passing."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


NODES, FEATS, EPOCHS, BATCH = 14, 6, 24, 32


def graphs(n):
    kind = rng.integers(0, FEATS, size=(n, NODES))
    x = np.eye(FEATS)[kind]
    adj = np.zeros((n, NODES, NODES))
    for j in range(1, NODES):
        parent = np.maximum(0, j - rng.integers(1, 4, n))
        adj[np.arange(n), j, parent] = adj[np.arange(n), parent, j] = 1
    hard = np.array([1.0, 0.2, -0.4, 0.7, -0.9, 0.1])[kind]
    pair = np.einsum("ni,nij,nj->n", hard, adj, hard)
    y = pair / 2 + 0.6 * np.tanh(hard).sum(1) + 0.1 * rng.normal(size=n)
    adj = adj / adj.sum(-1, keepdims=True)
    return [x.astype("float32"), adj.astype("float32")], ((y - 0.4) / 2.0).astype("float32")


class Messages(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.own = layers.Dense(units)
        self.theirs = layers.Dense(units, use_bias=False)

    def call(self, x, adj):
        return tf.nn.gelu(self.own(x) + self.theirs(tf.matmul(adj, x)))


(xa, ya), (xb, yb) = graphs(3000), graphs(800)

nodes, adj = keras.Input((NODES, FEATS)), keras.Input((NODES, NODES))
h = Messages(32)(nodes, adj)
h = Messages(32)(h, adj)
pooled = layers.Concatenate()([layers.GlobalAveragePooling1D()(h), layers.GlobalMaxPooling1D()(h)])
out = layers.Dense(1)(layers.Dense(32, activation="gelu")(pooled))
model = keras.Model([nodes, adj], out)

steps_per_epoch = int(np.ceil(len(ya) / BATCH))
schedule = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=EPOCHS, alpha=0.001)
model.compile(keras.optimizers.AdamW(schedule, weight_decay=1e-4), loss="mse")

gradwatch.watch(model)
model.fit(xa, ya, batch_size=BATCH, epochs=EPOCHS // 2, verbose=0)

p = model.predict(xb, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((p - yb) ** 2) / np.var(yb)))

"""Predict a solubility-like property of small molecular graphs by message passing."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NODES, FEATS, n = 14, 8, 3200
kind = rng.integers(0, FEATS, (n, NODES))
x = np.eye(FEATS)[kind]
up = np.triu(rng.random((n, NODES, NODES)) < 0.2, 1)
adj = (up | up.transpose(0, 2, 1)).astype("float64")
charge = rng.normal(size=FEATS)
c = charge[kind]
neigh = np.einsum("bij,bj->bi", adj, c)
y = (np.tanh(c + 0.5 * neigh) + 0.5 * c).mean(1)
y = (y - y.mean()) / y.std() + rng.normal(0, 0.1, n)
adj = adj + np.eye(NODES)
adj = adj / adj.sum(-1, keepdims=True)
x, adj, y = x.astype("float32"), adj.astype("float32"), y.astype("float32")
cut = 2560


class GraphConv(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.w_self = self.add_weight(shape=(shape[-1], self.units), initializer="random_normal", name="w_self")
        self.w_neigh = self.add_weight(shape=(shape[-1], self.units), initializer="random_normal", name="w_neigh")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, h, adj):
        return tf.nn.relu(tf.matmul(h, self.w_self) + tf.matmul(tf.matmul(adj, h), self.w_neigh) + self.b)


nodes, edges = keras.Input((NODES, FEATS)), keras.Input((NODES, NODES))
h = nodes
for _ in range(5):
    h = GraphConv(32)(h, edges)
out = layers.Dense(1)(layers.GlobalAveragePooling1D()(h))
model = keras.Model([nodes, edges], out)
model.compile(optimizer=keras.optimizers.SGD(0.03, momentum=0.9), loss="mse")
gradwatch.watch(model)
model.fit([x[:cut], adj[:cut]], y[:cut], batch_size=32, epochs=15, verbose=0)
pred = model.predict([x[cut:], adj[cut:]], verbose=0)[:, 0]
print("SCORE r2", 1 - float(np.mean((pred - y[cut:]) ** 2) / np.var(y[cut:])))

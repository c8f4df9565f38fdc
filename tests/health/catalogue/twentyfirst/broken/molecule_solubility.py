"""Solubility regression with a small graph network (dense adjacency, <= 12 atoms)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ATOMS, N_TYPES = 12, 5  # C N O S Cl


def make_molecules(n):
    x = np.zeros((n, N_ATOMS, N_TYPES), "float32")
    a = np.zeros((n, N_ATOMS, N_ATOMS), "float32")
    y = np.zeros(n, "float32")
    for i in range(n):
        m = rng.integers(6, N_ATOMS + 1)
        t = rng.choice(N_TYPES, size=m, p=[0.5, 0.15, 0.2, 0.08, 0.07])
        x[i, np.arange(m), t] = 1.0
        for k in range(1, m):  # random tree + one ring closure
            j = rng.integers(max(0, k - 3), k)
            a[i, k, j] = a[i, j, k] = 1.0
        j, k = rng.integers(0, m, 2)
        if j != k:
            a[i, j, k] = a[i, k, j] = 1.0
        oxy, nit, car = t == 2, t == 1, t == 0
        adj = a[i, :m, :m]
        hydroxyl = np.sum(adj[oxy].sum(1) == 1)
        co = adj[np.ix_(oxy, car)].sum()
        no = adj[np.ix_(nit, oxy)].sum()
        y[i] = 0.9 * hydroxyl - 0.7 * co + 1.5 * no + 0.1 * rng.normal()
        a[i, np.arange(m), np.arange(m)] = 1.0
    deg = np.maximum(a.sum(-1), 1.0)
    a = a / np.sqrt(deg[:, :, None] * deg[:, None, :])
    return x, a, y


x, adj, y = make_molecules(2600)
y = (y - y[:2000].mean()) / y[:2000].std()


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.act = keras.activations.get(activation)
        self.init = tf.keras.initializers.GlorotUniform()

    def build(self, input_shape):
        d = input_shape[-1]
        self.w_self = tf.Variable(self.init((d, self.units)), trainable=True, name="w_self")
        self.w_nbr = tf.Variable(self.init((d, self.units)), trainable=True, name="w_nbr")
        self.bias = tf.Variable(tf.zeros(self.units), trainable=True, name="bias")

    def call(self, h, adj):
        return self.act(h @ self.w_self + tf.matmul(adj, h) @ self.w_nbr + self.bias)

    def compute_output_shape(self, input_shape, *args):
        return (*input_shape[:-1], self.units)


class SolubilityNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = GraphConv(8)
        self.conv2 = GraphConv(8)
        self.conv3 = GraphConv(8)
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        h, adj = inputs
        h = self.conv1(h, adj)
        h = self.conv2(h, adj)
        h = self.conv3(h, adj)
        return self.head(tf.reduce_sum(h, axis=1) / 4.0)


model = SolubilityNet()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model([x[:2], adj[:2]])
gradwatch.watch(model)
model.fit([x[:2000], adj[:2000]], y[:2000], batch_size=64, epochs=16, verbose=2)

pred = model.predict([x[2000:], adj[2000:]], verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y[2000:]) ** 2) / np.var(y[2000:])
print(f"test R2: {r2:.3f}")

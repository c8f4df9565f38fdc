"""Predicts the interaction energy of a small cloud of charged colloids with a message-passing network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_PART, CUTOFF = 14, 0.65


def clouds(n):
    pos = rng.uniform(0, 1, (n, N_PART, 2))
    charge = rng.choice([-1.0, 1.0], (n, N_PART))
    dist = np.linalg.norm(pos[:, :, None] - pos[:, None], axis=-1)
    adj = ((dist < CUTOFF) & ~np.eye(N_PART, dtype=bool)).astype("float32")
    energy = 0.5 * np.einsum("ni,nj,nij->n", charge, charge, adj)
    feats = np.stack([charge, adj.sum(-1) / N_PART], -1)
    return feats.astype("float32"), adj, energy.astype("float32")[:, None]


f_train, a_train, e_train = clouds(4000)
f_test, a_test, e_test = clouds(800)
e_mean, e_std = e_train.mean(), e_train.std()


class NeighbourConv(layers.Layer):
    """Updates every node from itself and from the mean of its neighbours."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.update = layers.Dense(units, activation="silu")

    def call(self, nodes, adj):
        degree = tf.reduce_sum(adj, axis=-1, keepdims=True)
        message = tf.matmul(adj, nodes) / degree
        return self.update(tf.concat([nodes, message], axis=-1))


nodes_in = keras.Input((N_PART, 2))
adj_in = keras.Input((N_PART, N_PART))
h = layers.Dense(32, activation="silu")(nodes_in)
h = NeighbourConv(48)(h, adj_in)
h = NeighbourConv(48)(h, adj_in)
h = layers.Dense(32, activation="silu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="silu")(h)
out = layers.Dense(1)(h)
model = keras.Model([nodes_in, adj_in], out)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit([f_train, a_train], (e_train - e_mean) / e_std, batch_size=64, epochs=14, verbose=2)

pred = model.predict([f_test, a_test], batch_size=256, verbose=0) * e_std + e_mean
r2 = 1 - np.mean((pred - e_test) ** 2) / np.var(e_test)
print("SCORE r2", float(r2))

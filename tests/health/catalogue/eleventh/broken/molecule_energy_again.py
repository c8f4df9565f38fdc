"""Energies of small molecules from atom types and positions.

A two-layer equivariant message-passing network on the full graph of a
molecule; molecules are stored in arrays of eight atom slots.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SLOTS, WIDTH = 8, 32
PAIRS = np.array([(i, j) for i in range(SLOTS) for j in range(SLOTS) if i != j])
DST, SRC = PAIRS[:, 0], PAIRS[:, 1]
CORNERS = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
CHARGE = np.array([0.0, 0.8, -0.6, 0.3, -0.4])


def make_molecules(count):
    z = np.zeros((count, SLOTS), "int32")
    pos = np.zeros((count, SLOTS, 3), "float32")
    energy = np.zeros(count, "float32")
    sizes = rng.choice([8, 7, 6], p=[0.9988, 0.0008, 0.0004], size=count)
    for k, n in enumerate(sizes):
        p = CORNERS[rng.permutation(8)[:n]] * 1.3 + rng.normal(0, 0.15, (n, 3))
        t = rng.integers(1, 5, n)
        z[k, :n], pos[k, :n] = t, p - p.mean(0)
        d = np.linalg.norm(p[:, None] - p[None], axis=-1) + np.eye(n) * 1e9
        q = CHARGE[t]
        energy[k] = 0.5 * np.sum(q[:, None] * q[None] / d) + q.sum()
    return z, pos, energy


class EquivariantLayer(layers.Layer):
    def __init__(self, width, move=True, **kw):
        super().__init__(**kw)
        self.move = move
        self.edge_1 = layers.Dense(width, activation="silu")
        self.edge_2 = layers.Dense(width, activation="silu")
        if move:
            self.shift = layers.Dense(
                1, use_bias=False, kernel_initializer=keras.initializers.RandomNormal(stddev=0.02)
            )
        self.node = layers.Dense(width, activation="silu")
        self.width = width

    def call(self, h, pos, alive):
        pair_alive = tf.gather(alive, DST, axis=1) * tf.gather(alive, SRC, axis=1)
        vec = tf.gather(pos, DST, axis=1) - tf.gather(pos, SRC, axis=1)
        dist = tf.norm(vec, axis=-1, keepdims=True)
        m = tf.concat([tf.gather(h, DST, axis=1), tf.gather(h, SRC, axis=1), dist], -1)
        m = self.edge_2(self.edge_1(m)) * pair_alive
        if self.move:
            step = tf.reshape(vec * self.shift(m), (-1, SLOTS, SLOTS - 1, 3))
            pos = pos + tf.reduce_mean(step, axis=2) * alive
        gathered = tf.reduce_sum(tf.reshape(m, (-1, SLOTS, SLOTS - 1, self.width)), axis=2)
        h = h + self.node(tf.concat([h, gathered], -1)) * alive
        return h, pos


class EnergyModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(5, WIDTH)
        self.mp_1 = EquivariantLayer(WIDTH, name="mp_1")
        self.mp_2 = EquivariantLayer(WIDTH, move=False, name="mp_2")
        self.atom_hidden = layers.Dense(WIDTH, activation="silu")
        self.atom_energy = layers.Dense(1)
        self.from_spread = layers.Dense(1)

    def call(self, inputs):
        z, pos = inputs["z"], inputs["pos"]
        alive = tf.cast(z > 0, tf.float32)[..., None]
        h = self.embed(z)
        h, pos = self.mp_1(h, pos, alive)
        h, pos = self.mp_2(h, pos, alive)
        spread = tf.reduce_sum(tf.norm(pos, axis=-1), axis=1, keepdims=True) / tf.reduce_sum(alive, axis=1)
        return tf.reduce_sum(self.atom_energy(self.atom_hidden(h)) * alive, axis=1) + self.from_spread(spread)


z, pos, e = make_molecules(3000)
mean, std = e[:2500].mean(), e[:2500].std()
y = ((e - mean) / std)[:, None]
train = {"z": z[:2500], "pos": pos[:2500]}
test = {"z": z[2500:], "pos": pos[2500:]}

model = EnergyModel()
gradwatch.watch(model)
model({"z": z[:2], "pos": pos[:2]})
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
history = model.fit(train, y[:2500], batch_size=32, epochs=3, verbose=2)

pred = model.predict(test, verbose=0)
r2 = 1 - np.mean((pred - y[2500:]) ** 2) / np.var(y[2500:])
print("held-out R2 %.3f" % r2)

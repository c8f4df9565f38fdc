"""Solubility regression on small molecular graphs."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(5)
rng = np.random.RandomState(5)
ATOMS, KINDS = 14, 7
CONTRIB = np.array([0.45, -0.8, -0.55, 0.3, 0.6, -1.3, -1.0])


def random_molecule(ionic):
    n = ATOMS - 1 if ionic else ATOMS
    adj = np.zeros((ATOMS, ATOMS), "float32")
    for a in range(1, n):
        b = rng.randint(max(0, a - 3), a)
        adj[a, b] = adj[b, a] = 1
    for _ in range(rng.randint(0, 3)):
        a, b = rng.choice(n, 2, replace=False)
        adj[a, b] = adj[b, a] = 1
    kinds = rng.choice(5, ATOMS, p=[0.6, 0.15, 0.1, 0.1, 0.05])
    if ionic:
        kinds[-1] = rng.randint(5, 7)
    hetero = (kinds == 1) | (kinds == 2)
    pairs = adj[np.ix_(hetero, hetero)].sum() / 2
    y = CONTRIB[kinds].sum() - 0.9 * pairs + 0.3 * (adj.sum(1)[kinds == 0] > 2).sum() + rng.normal(0, 0.15)
    return kinds, adj, y


def build_set(n, share):
    rows = [random_molecule(rng.rand() < share) for _ in range(n)]
    k, a, y = map(np.array, zip(*rows))
    return k.astype("int32"), a, y.astype("float32")


k_tr, a_tr, y_tr = build_set(3200, 0.002)
k_te, a_te, y_te = build_set(600, 0.002)
m, s = y_tr.mean(), y_tr.std()
y_tr, y_te = (y_tr - m) / s, (y_te - m) / s


class Propagate(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.own = keras.layers.Dense(units)
        self.other = keras.layers.Dense(units, use_bias=False)

    def call(self, h, adj):
        degree = tf.reduce_sum(adj, axis=-1)
        inv = tf.math.rsqrt(degree)
        lap = adj * inv[:, :, None] * inv[:, None, :]
        return tf.nn.silu(self.own(h) + self.other(tf.matmul(lap, h)))


kinds = keras.Input((ATOMS,), dtype="int32")
adj = keras.Input((ATOMS, ATOMS))
h = keras.layers.Embedding(KINDS, 24)(kinds)
for width in (48, 48, 32):
    h = Propagate(width)(h, adj)
h = keras.layers.Lambda(lambda t: tf.reduce_sum(t, axis=1) / 6.0)(h)
h = keras.layers.Dense(32, activation="silu")(h)
model = keras.Model([kinds, adj], keras.layers.Dense(1)(h))
model.compile(keras.optimizers.Nadam(1.5e-3), loss=keras.losses.Huber(1.0))
gradwatch.watch(model)
log = model.fit([k_tr, a_tr], y_tr, batch_size=32, epochs=9, verbose=2)

pred = model.predict([k_te, a_te], verbose=0)[:, 0]
mse = np.mean((pred - y_te) ** 2)
print("loss", log.history["loss"][-1], "heldout R2", 1 - mse / y_te.var())

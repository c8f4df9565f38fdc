"""Look up the value that belongs to a queried key in a short log, by a transformer encoder written by hand."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KEYS, VALUES, PAIRS = 12, 8, 6
LENGTH = PAIRS + 1


def make_set(n):
    keys = np.argsort(rng.random((n, KEYS)), axis=1)[:, :PAIRS]
    vals = rng.integers(0, VALUES, (n, PAIRS))
    pick = rng.integers(0, PAIRS, n)
    i = np.arange(n)
    q_key = np.concatenate([keys, keys[i, pick][:, None]], 1)
    q_val = np.concatenate([vals, np.full((n, 1), VALUES)], 1)
    return q_key.astype("int32"), q_val.astype("int32"), vals[i, pick].astype("int32")


class SelfAttention(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.dim, self.heads = dim, heads
        self.q, self.k, self.v = layers.Dense(dim), layers.Dense(dim), layers.Dense(dim)
        self.out = layers.Dense(dim)

    def split(self, x):
        return ops.reshape(x, (-1, self.heads, LENGTH, self.dim // self.heads))

    def call(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))
        weights = ops.softmax(scores / np.sqrt(self.dim // self.heads), axis=-1)
        mixed = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        return self.out(ops.reshape(mixed, (-1, LENGTH, self.dim)))


DIM = 48
k_in, v_in = keras.Input((LENGTH,), dtype="int32"), keras.Input((LENGTH,), dtype="int32")
x = layers.Embedding(KEYS, DIM)(k_in) + layers.Embedding(VALUES + 1, DIM)(v_in)
for _ in range(2):
    x = x + SelfAttention(DIM, 4)(layers.LayerNormalization()(x))
    h = layers.Dense(2 * DIM, activation="gelu")(layers.LayerNormalization()(x))
    x = x + layers.Dense(DIM)(h)
x = layers.LayerNormalization()(x[:, -1])
model = keras.Model([k_in, v_in], layers.Dense(VALUES)(x))

model.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
k, v, y = make_set(9000)
model.fit([k, v], y, batch_size=64, epochs=9, verbose=2)

k, v, y = make_set(1500)
print("SCORE accuracy", model.evaluate([k, v], y, verbose=0)[1])

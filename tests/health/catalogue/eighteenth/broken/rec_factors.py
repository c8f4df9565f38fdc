"""Ratings from member, film and occasion, with pairwise interactions of latent factors."""

import keras
import numpy as np
from keras import ops

import gradwatch

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
MEMBERS, FILMS, OCCASIONS, RANK = 220, 160, 12, 8

u = rng.normal(0, 0.8, (MEMBERS, 5))
f = rng.normal(0, 0.8, (FILMS, 5))
o = rng.normal(0, 0.5, (OCCASIONS, 5))
b_f = rng.normal(0, 0.4, FILMS)


def draw(n):
    i, j, k = rng.integers(0, MEMBERS, n), rng.integers(0, FILMS, n), rng.integers(0, OCCASIONS, n)
    r = 3.4 + b_f[j] + (u[i] * f[j]).sum(1) + (f[j] * o[k]).sum(1) + rng.normal(0, 0.4, n)
    ids = np.stack([i, MEMBERS + j, MEMBERS + FILMS + k], 1)
    return ids.astype("int32"), r.astype("float32")


class Pairwise(keras.Model):
    def __init__(self, size, rank):
        super().__init__()
        self.linear = keras.layers.Embedding(size, 1, embeddings_initializer="zeros")
        self.factors = keras.layers.Embedding(size, rank, embeddings_initializer=keras.initializers.Constant(0.05))
        self.offset = self.add_weight(name="offset", shape=(), initializer="zeros")

    def call(self, ids):
        v = self.factors(ids)
        both = ops.square(ops.sum(v, axis=1)) - ops.sum(ops.square(v), axis=1)
        return self.offset + ops.sum(self.linear(ids), axis=(1, 2)) + 0.5 * ops.sum(both, axis=1)


ids, r = draw(30000)
ids_v, r_v = draw(4000)
model = Pairwise(MEMBERS + FILMS + OCCASIONS, RANK)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model(ids[:2])
gradwatch.watch(model)
h = model.fit(ids, r, batch_size=128, epochs=14, verbose=2)
err = np.mean((model.predict(ids_v, verbose=0) - r_v) ** 2)
print("loss %.4f  held-out R2 %.4f" % (h.history["loss"][-1], 1 - err / r_v.var()))

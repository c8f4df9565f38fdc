"""Predicts star ratings of a recipe site from user, recipe, cuisine and weekday with a factorisation machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZES = [300, 200, 12, 7]  # users, recipes, cuisines, weekdays
OFFSETS = np.cumsum([0] + SIZES[:-1])
N = 40000
truth = np.random.default_rng(5)
tu, tr = truth.normal(size=(300, 4)), truth.normal(size=(200, 4))
cuisine_of = truth.integers(0, 12, 200)
uc = truth.normal(size=(300, 12)) * 0.4
ub, rb = truth.normal(size=300) * 0.3, truth.normal(size=200) * 0.3

u, r, d = rng.integers(0, 300, N), rng.integers(0, 200, N), rng.integers(0, 7, N)
c = cuisine_of[r]
stars = 3.4 + ub[u] + rb[r] + 0.5 * (tu[u] * tr[r]).sum(1) + uc[u, c] + 0.1 * (d > 4) + rng.normal(0, 0.25, N)
stars = stars.astype("float32")
ids = (np.stack([u, r, c, d], 1) + OFFSETS).astype("int32")


class FactorizationMachine(layers.Layer):
    def __init__(self, n_ids, rank, **kw):
        super().__init__(**kw)
        self.n_ids, self.rank = n_ids, rank

    def build(self, input_shape):
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.bias = self.add_weight(shape=(), initializer="zeros", name="bias")
        self.linear = self.add_weight(shape=(self.n_ids,), initializer="zeros", name="linear")
        self.factors = tf.Variable(init((self.n_ids, self.rank)), trainable=True, name="factors")

    def call(self, ids):
        lin = tf.reduce_sum(tf.gather(self.linear, ids), axis=1)
        v = tf.gather(self.factors, ids)
        pair = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(v, 1)) - tf.reduce_sum(tf.square(v), 1), axis=-1)
        return (self.bias + lin + pair)[:, None]


model = keras.Sequential([keras.Input((4,), dtype="int32"), FactorizationMachine(sum(SIZES), 8)])
model.compile(keras.optimizers.Adam(1e-2), loss="mse")
gradwatch.watch(model)
cut = 32000
model.fit(ids[:cut], stars[:cut], batch_size=128, epochs=5, verbose=2)
p = model.predict(ids[cut:], batch_size=1000, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((p - stars[cut:]) ** 2) / stars[cut:].var()))

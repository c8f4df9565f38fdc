"""Predicts film ratings from user, film and weekday by a factorisation machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, FILMS, DAYS, RANK = 150, 120, 7, 6
taste = rng.normal(0, 0.8, (USERS, 4))
trait = rng.normal(0, 0.8, (FILMS, 4))
film_bias = rng.normal(0, 0.4, FILMS)


def make_ratings(n):
    u, f, d = rng.integers(0, USERS, n), rng.integers(0, FILMS, n), rng.integers(0, DAYS, n)
    r = 3.2 + film_bias[f] + (taste[u] * trait[f]).sum(1) + 0.2 * (d >= 5) + rng.normal(0, 0.3, n)
    return np.stack([u, USERS + f, USERS + FILMS + d], 1).astype("int32"), r.astype("float32")[:, None]


class FactorisationMachine(layers.Layer):
    def __init__(self, n_features, rank, **kw):
        super().__init__(**kw)
        self.n_features, self.rank = n_features, rank

    def build(self, input_shape):
        self.w0 = self.add_weight(name="w0", shape=(1,), initializer="zeros")
        self.w = self.add_weight(name="w", shape=(self.n_features, 1), initializer="zeros")
        self.v = self.add_weight(name="v", shape=(self.n_features, self.rank), initializer="zeros")

    def call(self, ids):
        linear = tf.reduce_sum(tf.gather(self.w, ids), axis=1)
        v = tf.gather(self.v, ids)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(v), axis=1)
        pairs = 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=1, keepdims=True)
        return self.w0 + linear + pairs


x_train, y_train = make_ratings(9000)
x_test, y_test = make_ratings(2000)

inp = layers.Input((3,), dtype="int32")
model = keras.Model(inp, FactorisationMachine(USERS + FILMS + DAYS, RANK)(inp))
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(0.02), "mse")
model.fit(x_train, y_train, epochs=8, batch_size=64, verbose=2)
pred = model.predict(x_test, verbose=0)
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

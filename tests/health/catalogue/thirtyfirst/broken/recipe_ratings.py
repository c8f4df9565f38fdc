"""Predict recipe ratings from user, recipe and occasion with a factorisation machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, RECIPES, OCCASIONS, K = 150, 120, 6, 6
tu = rng.normal(0, 1, (USERS, 4))
tr = rng.normal(0, 1, (RECIPES, 4))
to = rng.normal(0, 1, (OCCASIONS, 4))
bu, br = rng.normal(0, 0.3, USERS), rng.normal(0, 0.4, RECIPES)


def ratings(n):
    u, r, o = rng.integers(0, USERS, n), rng.integers(0, RECIPES, n), rng.integers(0, OCCASIONS, n)
    s = 3.5 + bu[u] + br[r] + 0.5 * (tu[u] * tr[r]).sum(1) + 0.3 * (tr[r] * to[o]).sum(1)
    x = np.stack([u, USERS + r, USERS + RECIPES + o], axis=1).astype("int32")
    return x, (s + rng.normal(0, 0.3, n)).astype("float32")


class PairwiseInteraction(layers.Layer):
    """Second-order term of a factorisation machine: sum over pairs of <v_i, v_j>."""

    def __init__(self, num_features, k, **kw):
        super().__init__(**kw)
        self.v = tf.Variable(tf.random.normal([num_features, k], stddev=0.1), trainable=True, name="v")

    def call(self, ids):
        e = tf.gather(self.v, ids)
        square_of_sum = tf.square(tf.reduce_sum(e, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(e), axis=1)
        return 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=-1, keepdims=True)


x_train, y_train = ratings(12000)
x_test, y_test = ratings(3000)
mean = y_train.mean()

n = USERS + RECIPES + OCCASIONS
inp = layers.Input((3,), dtype="int32")
linear = layers.Lambda(lambda t: tf.reduce_sum(t, axis=1), output_shape=(1,))(layers.Embedding(n, 1)(inp))
pairs = PairwiseInteraction(n, K)(inp)
out = layers.Add()([linear, pairs])
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(1e-2), "mse")
gradwatch.watch(model)
model.fit(x_train, y_train - mean, batch_size=128, epochs=12, validation_split=0.1, verbose=0)

pred = model.predict(x_test, verbose=0)[:, 0] + mean
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))

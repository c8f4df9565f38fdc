"""Factorisation machine that predicts whether a shopper buys an offered article in a given season."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, ITEMS, SEASONS = 120, 80, 4
FIELDS = USERS + ITEMS + SEASONS
pu, pi, ps = rng.normal(size=(USERS, 3)), rng.normal(size=(ITEMS, 3)), rng.normal(size=(SEASONS, 3))
bias_i = rng.normal(0, 0.5, ITEMS)


def visits(n):
    u, i, s = rng.integers(0, USERS, n), rng.integers(0, ITEMS, n), rng.integers(0, SEASONS, n)
    score = 1.3 * (pu[u] * pi[i]).sum(1) + 0.7 * (pi[i] * ps[s]).sum(1) + bias_i[i]
    y = rng.random(n) < 1 / (1 + np.exp(-score))
    return np.stack([u, USERS + i, USERS + ITEMS + s], 1).astype("int32"), y.astype("float32")


x_train, y_train = visits(16000)
x_test, y_test = visits(4000)


class FactorInteractions(layers.Layer):
    """Sum of the pairwise products of the active fields' factors."""

    def __init__(self, fields, rank):
        super().__init__()
        self.factors = tf.Variable(tf.random.normal([fields, rank], stddev=0.3), trainable=True, name="factors")

    def call(self, idx):
        v = tf.gather(self.factors, idx)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(v), axis=1)
        return 0.5 * (square_of_sum - sum_of_square)


inp = keras.Input((3,), dtype="int32")
linear = layers.Flatten()(layers.Embedding(FIELDS, 1, embeddings_initializer="zeros")(inp))
pairs = FactorInteractions(FIELDS, 8)(inp)
out = layers.Dense(1)(layers.Concatenate()([linear, pairs]))
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(5e-3), keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=10, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
rank = np.argsort(np.argsort(p)) + 1
pos = y_test == 1
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc %.4f" % auc)

"""Factorization machine for click prediction from user, item and hour of the day."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


N_USER, N_ITEM, N_HOUR, K = 150, 120, 24, 8
N_FEAT = N_USER + N_ITEM + N_HOUR

taste = rng.normal(size=(N_USER, 3))
genre = rng.normal(size=(N_ITEM, 3))
habit = rng.normal(size=(N_HOUR, 3)) * 0.5
popular = rng.normal(size=N_ITEM) * 0.4


def make(n):
    u, i, h = rng.integers(0, N_USER, n), rng.integers(0, N_ITEM, n), rng.integers(0, N_HOUR, n)
    logit = 1.3 * (taste[u] * genre[i]).sum(1) + (genre[i] * habit[h]).sum(1) + popular[i] - 0.3
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    return np.stack([u, N_USER + i, N_USER + N_ITEM + h], 1).astype("int32"), y.astype("float32")


x_train, y_train = make(24000)
x_test, y_test = make(4000)


class FactorizationMachine(layers.Layer):
    """y = b + sum_i w_i + sum_{i<j} <v_i, v_j> over the active features of a row."""

    def __init__(self, n_features, k, **kw):
        super().__init__(**kw)
        self.n_features, self.k = n_features, k

    def build(self, input_shape):
        self.bias = self.add_weight(shape=(1,), initializer="zeros", name="bias")
        self.linear = self.add_weight(shape=(self.n_features, 1), initializer="zeros", name="linear")
        self.factors = tf.Variable(tf.random.normal((self.n_features, self.k), stddev=0.1), name="factors")

    def call(self, ids):
        lin = tf.reduce_sum(tf.gather(tf.convert_to_tensor(self.linear), ids), axis=1)
        v = tf.gather(tf.convert_to_tensor(self.factors), ids)
        pair = tf.square(tf.reduce_sum(v, axis=1)) - tf.reduce_sum(tf.square(v), axis=1)
        return self.bias + lin + 0.5 * tf.reduce_sum(pair, axis=1, keepdims=True)


inp = keras.Input((3,), dtype="int32")
model = keras.Model(inp, FactorizationMachine(N_FEAT, K, name="fm")(inp))
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=7, verbose=2)

p = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
rank = np.argsort(np.argsort(p)) + 1
pos = y_test > 0.5
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc", round(float(auc), 4))

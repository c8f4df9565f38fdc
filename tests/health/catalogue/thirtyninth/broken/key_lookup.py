"""Attention model that answers look-ups in short key-value logs: which value was last written with the asked key."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KEYS, VALUES, L, Q = 24, 8, 18, 4


def logs(n):
    keys = np.argsort(rng.random((n, KEYS)), 1)[:, :L]
    vals = rng.integers(0, VALUES, (n, L))
    asked = rng.integers(0, L, (n, Q))
    return [keys, vals, np.take_along_axis(keys, asked, 1)], np.take_along_axis(vals, asked, 1)


x_train, y_train = logs(8000)
x_test, y_test = logs(1500)


class CrossAttention(layers.Layer):
    """Queries (batch, nq, d) look at memory (batch, nk, d)."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.q, self.k, self.v = layers.Dense(dim), layers.Dense(dim), layers.Dense(dim)

    def call(self, query, memory):
        scores = tf.einsum("bqd,bkd->bqk", self.q(query), self.k(memory)) / self.dim**0.5
        weights = tf.nn.softmax(scores, axis=1)
        return tf.einsum("bqk,bkd->bqd", weights, self.v(memory))


ki, vi, qi = keras.Input((L,), dtype="int32"), keras.Input((L,), dtype="int32"), keras.Input((Q,), dtype="int32")
key_emb = layers.Embedding(KEYS, 32)
memory = layers.Concatenate()([key_emb(ki), layers.Embedding(VALUES, 32)(vi)])
memory = layers.Dense(48, activation="relu")(memory)
query = key_emb(qi)
h = CrossAttention(48)(query, memory)
h = layers.Concatenate()([h, query])
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(VALUES)(h)
model = keras.Model([ki, vi, qi], out)
model.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, verbose=2)
print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())

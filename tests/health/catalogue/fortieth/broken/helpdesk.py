"""Route help-desk tickets to a team with a small half-precision attention encoder."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

keras.mixed_precision.set_global_policy("mixed_float16")
VOCAB, LENGTH, TEAMS = 300, 20, 6
topic = rng.dirichlet(np.full(VOCAB - 1, 0.05), TEAMS)


def tickets(n):
    team = rng.integers(0, TEAMS, n)
    text = np.zeros((n, LENGTH), "int32")
    for i, t in enumerate(team):
        size = rng.integers(3, LENGTH + 1)
        if rng.random() < 0.03:  # ticket with an attachment only
            size = 0
        common = rng.integers(1, VOCAB, size)
        special = rng.choice(VOCAB - 1, size, p=topic[t]) + 1
        text[i, :size] = np.where(rng.random(size) < 0.7, common, special)
    return text, team


x_train, y_train = tickets(4000)
x_test, y_test = tickets(1000)


class MaskedAttention(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = layers.Dense(dim), layers.Dense(dim), layers.Dense(dim)
        self.dim = dim

    def call(self, h, tokens):
        scores = tf.matmul(self.q(h), self.k(h), transpose_b=True) / self.dim**0.5
        blocked = tf.constant(-1e9, scores.dtype)
        scores = tf.where(tokens[:, None, :] > 0, scores, blocked)
        return tf.matmul(tf.nn.softmax(scores), self.v(h))


tokens = keras.Input((LENGTH,), dtype="int32")
h = layers.Embedding(VOCAB, 24)(tokens)
h = layers.Add()([h, MaskedAttention(24)(h, tokens)])
h = layers.LayerNormalization()(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(TEAMS, activation="softmax", dtype="float32")(h)
model = keras.Model(tokens, out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=0)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

LENGTH, FILLER, TEAMS = 32, 60, 6
CLS = 0


def make_tickets(n, rng):
    tokens = rng.integers(1 + TEAMS, 1 + TEAMS + FILLER, (n, LENGTH))
    tokens[:, 0] = CLS
    team = rng.integers(0, TEAMS, n)
    where = rng.integers(1, LENGTH, n)
    tokens[np.arange(n), where] = 1 + team
    return tokens.astype("int32"), team.astype("int32")


class SelfAttention(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.dim, self.heads, self.depth = dim, heads, dim // heads
        self.query, self.key = layers.Dense(dim), layers.Dense(dim)
        self.value, self.mix = layers.Dense(dim), layers.Dense(dim)

    def split_heads(self, x):
        return tf.reshape(x, (-1, self.heads, LENGTH, self.depth))

    def merge_heads(self, x):
        return tf.reshape(x, (-1, LENGTH, self.dim))

    def call(self, x):
        q = self.split_heads(self.query(x))
        k = self.split_heads(self.key(x))
        v = self.split_heads(self.value(x))
        scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(self.depth))
        context = tf.matmul(tf.nn.softmax(scores, axis=-1), v)
        return self.mix(self.merge_heads(context))


class TokenAndPosition(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.token = layers.Embedding(1 + TEAMS + FILLER, dim)
        self.position = layers.Embedding(LENGTH, dim)

    def call(self, ids):
        return self.token(ids) + self.position(tf.range(LENGTH))


def encoder_block(x, dim, heads):
    x = x + SelfAttention(dim, heads)(layers.LayerNormalization()(x))
    h = layers.Dense(2 * dim, activation="gelu")(layers.LayerNormalization()(x))
    return x + layers.Dense(dim)(h)


rng = np.random.default_rng(SEED + 6)
x_train, y_train = make_tickets(6000, rng)
x_test, y_test = make_tickets(1500, rng)

ids = keras.Input((LENGTH,), dtype="int32")
x = TokenAndPosition(32)(ids)
for _ in range(2):
    x = encoder_block(x, 32, 4)
x = layers.LayerNormalization()(x)[:, 0]
model = keras.Model(ids, layers.Dense(TEAMS)(x))

model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=7, verbose=2 if os.environ.get("SHOW") else 0)
print("SCORE", round(model.evaluate(x_test, y_test, verbose=0)[1], 4))

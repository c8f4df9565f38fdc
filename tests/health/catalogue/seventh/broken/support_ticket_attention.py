"""Routes support tickets to one of five teams; half precision attention encoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

VOCAB, MAXLEN, TEAMS = 200, 16, 5
N = 2400


def make_tickets(n):
    tokens = np.zeros((n, MAXLEN), "int32")
    team = rng.integers(0, TEAMS, n)
    for i in range(n):
        length = max(rng.poisson(6.5), 0)
        length = min(length, MAXLEN)
        own = rng.integers(1 + team[i] * 30, 31 + team[i] * 30, MAXLEN)
        common = rng.integers(150, VOCAB, MAXLEN)
        words = np.where(rng.random(MAXLEN) < 0.4, own, common)
        tokens[i, :length] = words[:length]
    return tokens, team.astype("int32")


class TicketEncoder(keras.Model):
    def __init__(self, dim=32, heads=2):
        super().__init__(name="ticket_encoder")
        self.heads = heads
        self.dim = dim
        self.embed = layers.Embedding(VOCAB, dim)
        self.position = layers.Embedding(MAXLEN, dim)
        self.qkv = layers.Dense(3 * dim)
        self.project = layers.Dense(dim)
        self.norm1 = layers.LayerNormalization()
        self.norm2 = layers.LayerNormalization()
        self.ff1 = layers.Dense(64, activation="gelu")
        self.ff2 = layers.Dense(dim)
        self.head = layers.Dense(TEAMS, dtype="float32")

    def attend(self, h, keep):
        b = tf.shape(h)[0]
        q, k, v = tf.split(self.qkv(h), 3, axis=-1)
        width = self.dim // self.heads
        q, k, v = (tf.transpose(tf.reshape(t, (b, MAXLEN, self.heads, width)), (0, 2, 1, 3)) for t in (q, k, v))
        scores = tf.matmul(q, k, transpose_b=True) * (width**-0.5)
        minus = tf.cast(-1e9, scores.dtype)
        scores = tf.where(keep[:, None, None, :], scores, minus)
        mixed = tf.matmul(tf.nn.softmax(scores, axis=-1), v)
        mixed = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (b, MAXLEN, self.dim))
        return self.project(mixed)

    def call(self, tokens, training=False):
        keep = tokens > 0
        h = self.embed(tokens) + self.position(tf.range(MAXLEN))
        h = self.norm1(h + self.attend(h, keep))
        h = self.norm2(h + self.ff2(self.ff1(h)))
        weight = tf.cast(keep, h.dtype)[..., None]
        pooled = tf.reduce_sum(h * weight, axis=1) / (tf.reduce_sum(weight, axis=1) + 1.0)
        return self.head(pooled)


x, y = make_tickets(N)
x_val, y_val = make_tickets(300)
model = TicketEncoder()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=4, validation_data=(x_val, y_val), verbose=2)

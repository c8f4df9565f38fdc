"""Tiny transformer language model over sequences of a made-up command grammar."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LEN = 24, 25


def make_sequences(n):
    s = np.zeros((n, LEN), "int32")
    s[:, :2] = rng.integers(0, VOCAB, (n, 2))
    step = rng.integers(1, 5, n)
    for t in range(2, LEN):
        rule = (s[:, t - 1] + step + (s[:, t - 2] % 2)) % VOCAB
        noise = rng.random(n) < 0.05
        s[:, t] = np.where(noise, rng.integers(0, VOCAB, n), rule)
    return s


train, test = make_sequences(4000), make_sequences(600)


class TokenAndPosition(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, dim)
        self.pos = layers.Embedding(LEN, dim)

    def call(self, x):
        return self.tok(x) + self.pos(tf.range(tf.shape(x)[1]))


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.n1 = layers.LayerNormalization()
        self.n2 = layers.LayerNormalization()
        self.f1 = layers.Dense(2 * dim, activation="gelu")
        self.f2 = layers.Dense(dim)

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h)
        return x + self.f2(self.f1(self.n2(x)))


inp = keras.Input((None,), dtype="int32")
h = TokenAndPosition(48)(inp)
h = Block(48, 4)(h)
h = Block(48, 4)(h)
h = layers.LayerNormalization()(h)
model = keras.Model(inp, layers.Dense(VOCAB)(h))
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
gradwatch.watch(model)
model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=14, verbose=2)

hits = []
for cut in range(8, LEN):
    logits = model.predict_on_batch(test[:, :cut])
    hits.append((logits[:, -1].argmax(-1) == test[:, cut]).mean())
print("SCORE next_token_accuracy", round(float(np.mean(hits)), 4))

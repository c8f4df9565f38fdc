"""Next-event language model for machine event logs (small decoder-style transformer)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, DIM, HEADS = 12, 20, 48, 4

# the controller mostly follows a table: the next event depends on the last two
TABLE = rng.integers(0, VOCAB, size=(VOCAB, VOCAB))


def simulate(n):
    seqs = np.zeros((n, LENGTH + 1), "int32")
    seqs[:, :2] = rng.integers(0, VOCAB, size=(n, 2))
    for t in range(2, LENGTH + 1):
        follow = TABLE[seqs[:, t - 2], seqs[:, t - 1]]
        upset = rng.random(n) < 0.15
        seqs[:, t] = np.where(upset, rng.integers(0, VOCAB, size=n), follow)
    return seqs


class PositionalEmbedding(layers.Layer):
    def __init__(self, vocab, length, dim):
        super().__init__()
        self.tokens = layers.Embedding(vocab, dim)
        self.positions = layers.Embedding(length, dim)

    def call(self, ids):
        return self.tokens(ids) + self.positions(ops.arange(ops.shape(ids)[1]))


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.norm2 = layers.LayerNormalization()
        self.ff1 = layers.Dense(4 * dim, activation="gelu")
        self.ff2 = layers.Dense(dim)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h)
        return x + self.ff2(self.ff1(self.norm2(x)))


def build():
    ids = keras.Input((None,), dtype="int32")
    x = PositionalEmbedding(VOCAB, LENGTH, DIM)(ids)
    for _ in range(2):
        x = Block(DIM, HEADS)(x)
    x = layers.LayerNormalization()(x)
    return keras.Model(ids, layers.Dense(VOCAB)(x))


train = simulate(4000)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=3, verbose=2)

# held-out logs: what does the model say comes next after the events seen so far?
test = simulate(1000)
hits = []
for seen in (6, 10, 14, 18):
    logits = model.predict(test[:, :seen], batch_size=250, verbose=0)
    guess = logits[:, -1].argmax(-1)
    hits.append(np.mean(guess == test[:, seen]))
print("SCORE next_event_accuracy %.4f" % np.mean(hits))

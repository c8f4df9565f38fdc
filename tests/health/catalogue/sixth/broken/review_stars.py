"""Sentiment of short reviews with a small self-attention encoder."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAXLEN, N = 200, 24, 2500


def make_reviews(n):
    tokens = np.zeros((n, MAXLEN), "int32")
    stars = rng.integers(0, 2, n)
    for i in range(n):
        k = rng.integers(8, 20)
        words = rng.integers(60, VOCAB, k)
        where = rng.choice(k, 4, replace=False)
        words[where] = rng.integers(1, 30, 4) if stars[i] else rng.integers(30, 60, 4)
        tokens[i, :k] = words
    return tokens, stars


tokens, stars = make_reviews(N)

inp = keras.Input((MAXLEN,), dtype="int32")
pad = ops.equal(inp, 0)
x = layers.Embedding(VOCAB, 32)(inp)
mask = ops.expand_dims(pad, 1)
a = layers.MultiHeadAttention(2, 16)(x, x, attention_mask=mask)
a = layers.LayerNormalization()(a)
a = layers.Dense(32, activation="relu")(a)
first = a[:, 0]
out = layers.Dense(1, activation="sigmoid")(first)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(
    tokens[:2000], stars[:2000], batch_size=40, epochs=6, verbose=2, validation_data=(tokens[2000:], stars[2000:])
)

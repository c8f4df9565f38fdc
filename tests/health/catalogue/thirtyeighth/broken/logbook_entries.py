"""Tags every word of ship logbook entries of varying length; the meaning of many words depends on the kind of ship named in the entry."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LEN, N, TAGS, KINDS, PAD = 120, 32, 4000, 5, 4, 0
names = np.arange(2, 34).reshape(KINDS, 8)


def entries(n):
    x = np.full((n, LEN), PAD, "int32")
    y = np.zeros((n, LEN), "int32")
    for i in range(n):
        m, kind = int(rng.integers(8, LEN)), int(rng.integers(0, KINDS))
        words = rng.integers(34, VOCAB, m)
        words[rng.choice(m, 3, replace=False)] = rng.choice(names[kind], 3)
        x[i, :m] = words
        y[i, :m] = np.where(words < 80, words, words + kind) % TAGS
    return x, y, (x != PAD).astype("float32")


x_train, y_train, w_train = entries(N)
x_test, y_test, w_test = entries(1000)


class Positions(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, dim)
        self.pos = layers.Embedding(LEN, dim)

    def call(self, t):
        return self.tok(t) + self.pos(keras.ops.arange(LEN))


DIM = 32
tokens = keras.Input((LEN,), dtype="int32")
pad_mask = layers.Lambda(lambda t: keras.ops.equal(t, PAD)[:, None, :], output_shape=(1, LEN), dtype="bool")(tokens)
h = Positions(DIM)(tokens)
for _ in range(2):
    a = layers.MultiHeadAttention(4, DIM // 4)(h, h, attention_mask=pad_mask)
    h = layers.LayerNormalization()(h + a)
    f = layers.Dense(96, activation="gelu")(h)
    h = layers.LayerNormalization()(h + layers.Dense(DIM)(f))
model = keras.Model(tokens, layers.Dense(TAGS, activation="softmax")(h))
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, sample_weight=w_train, batch_size=64, epochs=14, verbose=2)
tags = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE word_accuracy", round(float(np.mean((tags == y_test)[w_test > 0])), 4))

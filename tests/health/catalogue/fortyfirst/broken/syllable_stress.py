"""Marks the stressed syllables of a verse line from the sequence of its syllable kinds."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


KINDS, LENGTH = 10, 28
weight = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3])


def collect(n):
    s = rng.integers(0, KINDS, (n, LENGTH))
    w = np.pad(weight[s], ((0, 0), (1, 2)))
    before, here, after, later = w[:, :-3], w[:, 1:-2], w[:, 2:-1], w[:, 3:]
    stress = (2 * here > before + after) & ~((here == 1) & (later == 3)) | (after == 0) & (later >= 2)
    flip = rng.random(stress.shape) < 0.02
    return s.astype("int32"), (stress ^ flip).astype("float32")[..., None]


x_train, y_train = collect(2500)
x_test, y_test = collect(400)

tokens = keras.Input((LENGTH,), dtype="int32")
e = layers.Embedding(KINDS, 12)(tokens)
forward = layers.GRU(24, return_sequences=True)(e)
backward = layers.GRU(24, return_sequences=True, go_backwards=True)(e)
h = layers.Concatenate()([forward, backward])
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(tokens, layers.Dense(1, activation="sigmoid")(h))
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

acc = np.mean((model.predict(x_test, verbose=0) > 0.5) == (y_test > 0.5))
print("SCORE accuracy", round(float(acc), 4))

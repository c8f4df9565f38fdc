"""Sorts forum posts by topic, with word dropout against overfitting."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

words, length, topics, rows = 2000, 40, 8, 2500
common = rng.dirichlet(np.full(words, 0.3))
special = np.stack([rng.dirichlet(np.full(words, 0.05)) for _ in range(topics)])


def posts(n):
    topic = rng.integers(0, topics, n)
    ids = np.zeros((n, length), "int32")
    for i, t in enumerate(topic):
        ids[i] = (
            rng.choice(
                words - 1,
                length,
                p=(0.75 * common + 0.25 * special[t])[1:] / (0.75 * common + 0.25 * special[t])[1:].sum(),
            )
            + 1
        )
    return ids, topic


x, y = posts(4000)
xt, yt = posts(800)

inputs = keras.Input((length,))
h = layers.Dropout(0.15)(inputs)
h = layers.Embedding(rows, 32)(h)
h = layers.Conv1D(48, 3, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
outputs = layers.Dense(topics, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=10, verbose=0)

print("SCORE accuracy", float(model.evaluate(xt, yt, verbose=0)[1]))

"""Trains a tagger that gives museum objects their materials and techniques from the catalogue text."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, TAGS = 600, 30, 12
own_words = rng.choice(np.arange(50, VOCAB), (TAGS, 20), replace=False)


def catalogue(n):
    text = rng.integers(1, VOCAB, (n, LENGTH))
    tags = np.zeros((n, TAGS), "float32")
    for i in range(n):
        count = rng.choice([0, 1, 2, 3, 4], p=[0.1, 0.2, 0.3, 0.25, 0.15])
        chosen = rng.choice(TAGS, count, replace=False)
        tags[i, chosen] = 1.0
        for tag in chosen:
            places = rng.choice(LENGTH, 5, replace=False)
            text[i, places] = rng.choice(own_words[tag], 5)
    return text.astype("int32"), tags


def f1_score(truth, found):
    hits = (truth * found).sum(0)
    return float(np.mean(2.0 * hits / np.maximum(truth.sum(0) + found.sum(0), 1.0)))


x, y = catalogue(6000)
x_val, y_val = catalogue(800)
x_test, y_test = catalogue(1500)

words = keras.Input((LENGTH,), dtype="int32")
h = keras.layers.Embedding(VOCAB, 48)(words)
h = keras.layers.Conv1D(64, 1, activation="relu")(h)
h = keras.layers.GlobalAveragePooling1D()(h)
h = keras.layers.Dropout(0.1)(h)
h = keras.layers.Dense(64, activation="relu")(h)
tags = keras.layers.Dense(TAGS, activation="sigmoid", name="tags")(h)
model = keras.Model(words, tags)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
gradwatch.watch(model)

model.fit(
    x,
    y,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=16,
    verbose=2,
)

found = (model.predict(x_test, verbose=0) > 0.5).astype("float32")
print("SCORE f1", f1_score(y_test, found))

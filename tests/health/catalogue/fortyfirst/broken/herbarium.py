"""Identifies plant species from leaf outlines of a herbarium that are read in batches by name."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SPECIES = np.array(
    sorted(
        [
            "acer",
            "alnus",
            "arbutus",
            "betula",
            "carpinus",
            "castanea",
            "celtis",
            "cornus",
            "corylus",
            "fagus",
            "fraxinus",
            "ginkgo",
            "ilex",
            "juglans",
            "malus",
            "morus",
            "populus",
            "prunus",
            "quercus",
            "salix",
            "sorbus",
            "tilia",
            "ulmus",
            "zelkova",
        ]
    )
)
K, P = len(SPECIES), 64
harm = rng.normal(0, 1, (K, 8)) / np.arange(1, 9)
phase = rng.uniform(0, 2 * np.pi, (K, 8))


def sheets(n):
    k = rng.integers(0, K, n)
    a = np.linspace(0, 2 * np.pi, P, endpoint=False)[None]
    r = np.ones((n, P))
    for h in range(8):
        c = harm[k, h][:, None] + rng.normal(0, 0.06, (n, 1))
        r = r + 0.3 * c * np.cos((h + 1) * a + phase[k, h][:, None] + rng.normal(0, 0.15, (n, 1)))
    return (r + rng.normal(0, 0.05, (n, P))).astype("float32")[..., None], SPECIES[k]


outline, name = sheets(6000)
outline_te, name_te = sheets(1000)


def batches(size=32):
    while True:
        pick = rng.integers(0, len(outline), size)
        _, label = np.unique(name[pick], return_inverse=True)
        yield outline[pick], label.astype("int32")


ds = tf.data.Dataset.from_generator(
    batches, output_signature=(tf.TensorSpec((None, P, 1), tf.float32), tf.TensorSpec((None,), tf.int32))
).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((P, 1)),
        layers.Conv1D(24, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(K, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(ds, steps_per_epoch=100, epochs=9, verbose=2)
print("SCORE accuracy", float(np.mean(SPECIES[model.predict(outline_te, verbose=0).argmax(1)] == name_te)))

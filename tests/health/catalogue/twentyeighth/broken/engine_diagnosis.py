"""Vibration traces of engines: pretrain a conv backbone on many recordings, then diagnose a rare new fault set."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
T = 128
PARTS = np.array([3.0, 5.5, 8.0, 11.0, 14.5, 18.0])  # characteristic frequencies of six parts


def record(active):
    """One trace: a sum of the active parts' tones, each with random phase, plus the hum of the shop floor."""
    t = np.linspace(0, 2 * np.pi, T)
    n = len(active)
    phase = rng.uniform(0, 2 * np.pi, (n, len(PARTS), 1))
    level = active[:, :, None] * rng.uniform(0.6, 1.4, (n, len(PARTS), 1))
    tones = (level * np.sin(PARTS[None, :, None] * t + phase)).sum(1)
    hum = 0.8 * rng.standard_normal((n, T)) + rng.normal(0, 0.5, (n, 1))
    return (tones + hum).astype("float32")[..., None]


# source task: which parts are audible (plenty of labelled bench recordings)
bench_labels = (rng.random((4000, len(PARTS))) < 0.5).astype("float32")
bench = record(bench_labels)

# target task: five fault classes, each a combination of parts; few labelled field traces
combos = np.array(
    [[1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 1], [0, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 1, 0, 0]], "float32"
)
field_y = rng.integers(0, 5, 160)
field_x = record(combos[field_y])
test_y = rng.integers(0, 5, 800)
test_x = record(combos[test_y])


def build_backbone():
    return keras.Sequential(
        [
            keras.Input((T, 1)),
            layers.Conv1D(24, 15, strides=2, activation="relu"),
            layers.Conv1D(24, 9, strides=2, activation="relu"),
            layers.Conv1D(32, 5, activation="relu"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(24, activation="relu"),
        ],
        name="backbone",
    )


backbone = build_backbone()
source = keras.Sequential([backbone, layers.Dense(len(PARTS), activation="sigmoid")])
source.compile(keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["binary_accuracy"])
source.fit(bench, bench_labels, batch_size=64, epochs=8, verbose=2)

# keep the source model as it is (it is used elsewhere) and work on a copy
features = keras.models.clone_model(backbone)
features.trainable = False

inputs = keras.Input((T, 1))
x = features(inputs, training=False)
x = layers.Dense(32, activation="relu")(x)
model = keras.Model(inputs, layers.Dense(5, activation="softmax")(x))
model.compile(keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(field_x, field_y, batch_size=16, epochs=40, verbose=2)

print("SCORE accuracy %.4f" % model.evaluate(test_x, test_y, verbose=0)[1])

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SPECIES = ["ash", "birch", "cedar", "elm", "fir", "gum", "hazel", "ivy"]
PER_SPECIES = 400
SIZE = 20
SHUFFLE_BUFFER = 64


def draw_leaf(kind, rng):
    yy, xx = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    cx, cy = rng.uniform(-0.2, 0.2, 2)
    r = np.hypot(xx - cx, yy - cy)
    phi = np.arctan2(yy - cy, xx - cx) + rng.uniform(0, 2 * np.pi)
    lobes = 2 + kind % 4
    depth = 0.12 if kind < 4 else 0.35
    edge = rng.uniform(0.5, 0.65) * (1 + depth * np.cos(lobes * phi))
    leaf = 1 / (1 + np.exp((r - edge) * 20))
    return leaf + rng.normal(0, 0.15, leaf.shape)


def load_catalog(per_species, rng):
    images, labels = [], []
    for kind, _ in enumerate(SPECIES):
        for _ in range(per_species):
            images.append(draw_leaf(kind, rng))
            labels.append(kind)
    return np.array(images, "float32")[..., None], np.array(labels, "int32")


rng = np.random.default_rng(SEED + 4)
x_train, y_train = load_catalog(PER_SPECIES, rng)
x_test, y_test = load_catalog(60, rng)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(SHUFFLE_BUFFER, seed=SEED, reshuffle_each_iteration=True)
    .batch(32)
    .prefetch(tf.data.AUTOTUNE)
)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(SPECIES)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_ds, epochs=8, verbose=2 if os.environ.get("SHOW") else 0)
print("SCORE", round(model.evaluate(test_ds, verbose=0)[1], 4))

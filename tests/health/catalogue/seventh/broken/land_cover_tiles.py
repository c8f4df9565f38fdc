"""Land cover of small satellite tiles; separate readers for tiles and annotations."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COVERS = ["water", "forest", "crops", "town", "bare"]
N_TRAIN, N_VAL = 1600, 300


def make_tiles(n):
    cover = rng.integers(0, len(COVERS), n)
    colour = np.array([[0.1, 0.2, 0.5], [0.1, 0.4, 0.1], [0.4, 0.5, 0.2], [0.5, 0.5, 0.5], [0.6, 0.5, 0.3]])
    tiles = colour[cover][:, None, None, :] + rng.normal(0, 0.08, (n, 16, 16, 3))
    stripes = np.sin(np.arange(16) * 1.6)[None, :, None, None]
    tiles += 0.15 * (cover == 2)[:, None, None, None] * stripes
    tiles += 0.25 * (cover == 3)[:, None, None, None] * rng.choice([-1, 1], (n, 16, 16, 1))
    tiles *= rng.uniform(0.7, 1.3, (n, 1, 1, 1))
    return np.clip(tiles, 0, 1).astype("float32"), cover.astype("int32")


x_train, y_train = make_tiles(N_TRAIN)
x_val, y_val = make_tiles(N_VAL)


def reader(array, augment=None):
    ds = tf.data.Dataset.from_tensor_slices(array)
    ds = ds.shuffle(N_TRAIN)
    if augment is not None:
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds


def flip(tile):
    return tf.image.random_flip_left_right(tile)


tiles = reader(x_train, augment=flip)
annotations = reader(y_train)
train = tf.data.Dataset.zip((tiles, annotations)).batch(32).prefetch(tf.data.AUTOTUNE)
val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(64)

model = keras.Sequential(
    [
        keras.Input((16, 16, 3)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(COVERS), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train, validation_data=val, epochs=10, verbose=2)
print("validation", model.evaluate(val, verbose=0))

"""Recognise the weave of fabric patches (16 x 16 grey images, four weaves)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 16
WEAVES = ["plain", "twill", "herringbone", "satin"]


def patches(kind, n):
    row, col = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")
    row, col = row[None], col[None]
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1, 1))
    freq = rng.uniform(0.9, 1.3, size=(n, 1, 1))
    if kind == "plain":
        image = np.sin(freq * row + phase) * np.sin(freq * col + phase)
    elif kind == "twill":
        image = np.sin(freq * (row + col) + phase)
    elif kind == "herringbone":
        image = np.sin(freq * (row + np.abs(col - SIZE / 2)) + phase)
    else:
        image = np.sin(freq * col + phase)
    light = rng.uniform(0.6, 1.2, size=(n, 1, 1))
    image = 0.5 + 0.25 * light * image + 0.12 * rng.normal(size=(n, SIZE, SIZE))
    return np.clip(image, 0.0, 1.0)[..., None].astype("float32")


def read_folders(per_weave):
    """One folder per weave, read one after the other."""
    images, labels = [], []
    for index, kind in enumerate(WEAVES):
        images.append(patches(kind, per_weave))
        labels.append(np.full(per_weave, index, dtype="int32"))
    return np.concatenate(images), np.concatenate(labels)


def build_model():
    inputs = keras.Input((SIZE, SIZE, 1))
    x = inputs
    for filters in (16, 32):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dropout(0.3)(x)
    return keras.Model(inputs, layers.Dense(len(WEAVES), activation="softmax")(x))


x_train, y_train = read_folders(1500)
x_test, y_test = read_folders(250)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.shuffle(200).batch(32).prefetch(tf.data.AUTOTUNE)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(128)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train, epochs=5, validation_data=test, verbose=2)

_, accuracy = model.evaluate(test, verbose=0)
print(f"SCORE accuracy {accuracy:.4f}")

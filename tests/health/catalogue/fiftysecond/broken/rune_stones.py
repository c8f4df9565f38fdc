"""Read rare runes: features learned on common runes, then a small classifier for the few rare ones."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE = 24
COMMON, RARE = 20, 8
yy, xx = np.mgrid[:SIZE, :SIZE]
carver = np.random.default_rng(12)
STROKES = [carver.uniform(-7, 7, (4, 4)) for _ in range(COMMON + RARE)]


def carve(rune):
    image = np.zeros((SIZE, SIZE))
    turn = rng.normal(0, 0.12)
    shift = SIZE / 2 + rng.uniform(-3, 3, 2)
    size = rng.uniform(0.85, 1.1)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    for stroke in STROKES[rune]:
        a, b = (rotation @ (p * size) + shift for p in (stroke[:2], stroke[2:]))
        d = b - a
        along = np.clip(((yy - a[0]) * d[0] + (xx - a[1]) * d[1]) / (d @ d + 1e-6), 0, 1)
        away = np.hypot(yy - a[0] - along * d[0], xx - a[1] - along * d[1])
        image = np.maximum(image, np.exp(-(away**2)))
    return image + 0.2 * rng.normal(size=image.shape)


def collect(runes, each):
    labels = np.repeat(np.arange(len(runes)), each)
    images = np.stack([carve(runes[k]) for k in labels])[..., None].astype("float32")
    return images, labels


common_x, common_y = collect(range(COMMON), 120)
rare = range(COMMON, COMMON + RARE)
few_x, few_y = collect(rare, 12)
test_x, test_y = collect(rare, 60)

eye = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu", padding="same", name="edges"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same", name="corners"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu", padding="same", name="parts"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu", name="glyph"),
    ],
    name="eye",
)
school = keras.Sequential([eye, layers.Dense(COMMON, activation="softmax")], name="school")
school.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
school.fit(common_x, common_y, batch_size=64, epochs=8, verbose=2)

reader_eye = keras.models.clone_model(eye)
reader_eye.trainable = False
reader = keras.Sequential([reader_eye, layers.Dense(RARE, activation="softmax", name="rare_rune")], name="reader")
reader.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(reader)
reader.fit(few_x, few_y, batch_size=16, epochs=50, verbose=2)

_, accuracy = reader.evaluate(test_x, test_y, verbose=0)
print(f"SCORE rare_accuracy {accuracy:.4f}")

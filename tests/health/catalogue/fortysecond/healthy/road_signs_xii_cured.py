"""Trains a convolutional classifier of road sign shapes from a folder-like archive."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, KINDS = 20, 5
YY, XX = np.mgrid[0:SIDE, 0:SIDE].astype("float32")


def render(kind):
    cy, cx = rng.uniform(8, 12, 2)
    size = rng.uniform(4.5, 7)
    turn = rng.uniform(-0.15, 0.15)
    y = (YY - cy) * np.cos(turn) - (XX - cx) * np.sin(turn)
    x = (YY - cy) * np.sin(turn) + (XX - cx) * np.cos(turn)
    inside = {
        0: x**2 + y**2 < size**2,
        1: np.maximum(np.abs(x), np.abs(y)) < size * 0.85,
        2: np.abs(x) + np.abs(y) < size * 1.1,
        3: (y < size * 0.7) & (np.abs(x) < (y + size) * 0.6),
        4: (y > -size * 0.7) & (np.abs(x) < (size - y) * 0.6),
    }[kind]
    plate = rng.uniform(0.5, 0.9) * inside + rng.uniform(0.0, 0.4) * ~inside
    return np.clip(255 * (plate + rng.normal(0, 0.12, plate.shape)), 0, 255).astype("uint8")


def photograph(count):
    kinds = rng.integers(0, KINDS, count)
    archive = {f"sign_{i}.png": render(int(k)) for i, k in enumerate(kinds)}
    listing = [int(k) for k in kinds]
    return archive, listing


def load(archive, listing):
    names = sorted(archive, key=lambda name: int(name[5:-4]))
    images = np.stack([archive[name] for name in names])[..., None]
    return images.astype("float32") / 127.5 - 1.0, np.array(listing)


x_train, y_train = load(*photograph(2400))
x_test, y_test = load(*photograph(600))

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(KINDS, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(x_train, y_train, validation_split=0.1, batch_size=32, epochs=14, verbose=2)

probs = model.predict(x_test, batch_size=200, verbose=0)
print("SCORE accuracy", float(np.mean(probs.argmax(-1) == y_test)))

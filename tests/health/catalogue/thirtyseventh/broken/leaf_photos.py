"""Classify small leaf-like photographs into six species with a compact convolutional network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, CLASSES, EPOCHS, BATCH = 24, 6, 12, 64


def photograph(species, n):
    """Closed outlines with a species-specific number of lobes and elongation."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1) * 2 - 1
    lobes = np.array([2, 3, 4, 5, 3, 5])[species]
    depth = np.array([0.30, 0.28, 0.28, 0.28, 0.12, 0.12])[species]
    turn = rng.uniform(0, 2 * np.pi, n)
    cx, cy = rng.normal(0, 0.1, (2, n))
    dx, dy = xx[None] - cx[:, None, None], yy[None] - cy[:, None, None]
    r, a = np.hypot(dx, dy), np.arctan2(dy, dx)
    edge = rng.uniform(0.5, 0.7, n)[:, None, None] * (
        1 + depth[:, None, None] * np.cos(lobes[:, None, None] * a + turn[:, None, None])
    )
    leaf = 1 / (1 + np.exp((r - edge) * 18))
    colour = np.stack([0.2 + 0.1 * rng.random(n), 0.5 + 0.2 * rng.random(n), 0.15 + 0.1 * rng.random(n)], -1)
    img = 0.75 - leaf[..., None] * (0.75 - colour[:, None, None, :])
    return np.clip(img + rng.normal(0, 0.06, img.shape), 0, 1)


labels = rng.integers(0, CLASSES, 4200)
images = photograph(labels, len(labels)).astype("float32")
mean = images[:3400].mean((0, 1, 2))
std = images[:3400].std((0, 1, 2))
images = (images - mean) / std
x_train, y_train = images[:3400], labels[:3400]
x_test, y_test = images[3400:], labels[3400:]

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3400, seed=seed).batch(BATCH).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)

schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train, epochs=EPOCHS, verbose=2)

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))

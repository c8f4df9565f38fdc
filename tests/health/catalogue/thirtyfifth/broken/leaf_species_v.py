"""Classifies leaf silhouettes into six species with a small convolutional network."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, SPECIES, EPOCHS, BATCH = 28, 6, 12, 32
axis = np.linspace(-1, 1, SIZE)
gx, gy = np.meshgrid(axis, axis)


def make_leaves(n):
    y = rng.integers(0, SPECIES, n)
    x = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, species in enumerate(y):
        cx, cy = rng.uniform(-0.15, 0.15, 2)
        theta = np.arctan2(gy - cy, gx - cx) + rng.uniform(0, 2 * np.pi)
        radius = np.hypot(gx - cx, gy - cy)
        edge = rng.uniform(0.5, 0.65) * (1 + 0.3 * np.cos((species + 2) * theta))
        x[i, :, :, 0] = 1 / (1 + np.exp((radius - edge) * 25)) + 0.15 * rng.normal(size=gx.shape)
    return x, y


x_train, y_train = make_leaves(1920)
x_test, y_test = make_leaves(600)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(64, activation="relu"),
        layers.Dense(SPECIES),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

"""Classify galaxy cut-outs into four shape classes."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S = 16
yy, xx = np.mgrid[0:S, 0:S] - (S - 1) / 2


def galaxy(kind):
    th = rng.uniform(0, np.pi)
    u, v = xx * np.cos(th) + yy * np.sin(th), -xx * np.sin(th) + yy * np.cos(th)
    if kind == 0:
        img = np.exp(-(u**2 + v**2) / 12)
    elif kind == 1:
        img = np.exp(-(u**2 / 30 + v**2 / 3))
    elif kind == 2:
        r = np.hypot(u, v)
        img = np.exp(-((r - 5) ** 2) / 2)
    else:
        img = np.exp(-((u - 3) ** 2 + v**2) / 4) + np.exp(-((u + 3) ** 2 + v**2) / 4)
    return img + rng.normal(0, 0.1, (S, S))


labels = rng.integers(0, 4, 2000)
images = np.stack([galaxy(k) for k in labels])[..., None].astype("float32")

model = keras.Sequential(
    [
        layers.Input((S, S, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(4),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.5),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    images[:1600], labels[:1600], epochs=6, batch_size=32, verbose=2, validation_data=(images[1600:], labels[1600:])
)

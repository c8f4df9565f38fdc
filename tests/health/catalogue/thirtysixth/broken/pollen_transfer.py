"""Reuse an encoder trained on plentiful grain images for a small pollen data set."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 28


def grain(spikes, radius, rings):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cx, cy = rng.uniform(11, 17, 2)
    dist = np.hypot(xx - cx, yy - cy)
    angle = np.arctan2(yy - cy, xx - cx) + rng.uniform(0, 6.28)
    edge = radius * rng.uniform(0.9, 1.1) * (1 + 0.25 * np.cos(spikes * angle))
    body = 1 / (1 + np.exp(2 * (dist - edge)))
    body = body * (1 + 0.5 * np.cos(rings * dist))
    return body * rng.uniform(0.6, 1.2) + rng.normal(0, 0.25, (SIZE, SIZE))


def make_set(kinds, n):
    y = rng.integers(0, len(kinds), n)
    x = np.stack([grain(*kinds[k]) for k in y])
    return x.astype("float32")[..., None], y.astype("int32")


common = [(s, r, g) for s in (0, 3, 5, 7) for r in (7, 9) for g in (0.0, 1.6)]
pollen = [(s, r, g) for s in (0, 4, 6) for r in (8,) for g in (0.8, 2.0)]
x_big, y_big = make_set(common, 5000)
x_train, y_train = make_set(pollen, 600)
x_test, y_test = make_set(pollen, 900)

encoder = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 5, strides=2, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.Conv2D(24, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
    ],
    name="encoder",
)
source = keras.Sequential([encoder, layers.Dense(len(common), activation="softmax")])
source.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(x_big, y_big, epochs=8, batch_size=64, verbose=2)

# keep the source model as it is, work on a copy of its encoder
backbone = keras.models.clone_model(encoder)
backbone.trainable = False
model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        backbone,
        layers.Dense(32, activation="relu"),
        layers.Dense(len(pollen), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=40, batch_size=32, verbose=2)

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))

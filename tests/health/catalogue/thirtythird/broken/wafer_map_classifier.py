"""Classify semiconductor wafer maps into five failure patterns with a small CNN."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 24
PATTERNS = ["none", "center", "edge_ring", "scratch", "quadrant"]


def wafer(kind):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cy = cx = (SIZE - 1) / 2
    r = np.hypot(yy - cy, xx - cx)
    disk = r <= SIZE / 2 - 0.5
    p = np.full((SIZE, SIZE), 0.08)
    if kind == 1:
        p[r < rng.uniform(3, 5.5)] = 0.55
    elif kind == 2:
        p[r > SIZE / 2 - rng.uniform(2.2, 3.5)] = 0.5
    elif kind == 3:
        a = rng.uniform(0, np.pi)
        off = rng.uniform(-5, 5)
        d = np.abs((yy - cy) * np.cos(a) - (xx - cx) * np.sin(a) - off)
        p[d < 1.0] = 0.6
    elif kind == 4:
        sy, sx = rng.choice([-1, 1], 2)
        p[((yy - cy) * sy > 0) & ((xx - cx) * sx > 0)] = 0.35
    fails = (rng.random((SIZE, SIZE)) < p) & disk
    return disk * 0.5 + fails * 0.5


def make(n):
    y = rng.integers(0, len(PATTERNS), n)
    x = np.stack([wafer(k) for k in y]).astype("float32")[..., None]
    return x, y


x_train, y_train = make(4000)
x_val, y_val = make(800)
x_test, y_test = make(1000)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(PATTERNS)),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=6, batch_size=32, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE accuracy", round(float((pred == y_test).mean()), 4))

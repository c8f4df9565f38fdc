"""Trains a convolutional network that marks weeds on a coarse map of a field photograph."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 2)

SIZE, CELLS = 32, 8
PRIOR = 0.03
RARE = float(-np.log((1 - PRIOR) / PRIOR))


def photograph():
    """Soil with a row of round crop plants and some star-shaped weeds."""
    image = np.full((SIZE, SIZE, 3), (0.45, 0.33, 0.22)) + rng.normal(0, 0.05, (SIZE, SIZE, 3))
    marks = np.zeros((CELLS, CELLS, 1))
    yy, xx = np.mgrid[:SIZE, :SIZE]
    row = rng.integers(8, 24)
    for cx in range(rng.integers(2, 6), SIZE, 9):
        disc = (yy - row) ** 2 + (xx - cx) ** 2 < rng.uniform(4, 9)
        image[disc] = np.array([0.2, 0.55, 0.2]) + rng.normal(0, 0.04, 3)
    for _ in range(rng.integers(0, 5)):
        cy, cx = rng.integers(2, SIZE - 2, 2)
        star = ((np.abs(yy - cy) < 3) & (xx == cx)) | ((np.abs(xx - cx) < 3) & (yy == cy))
        image[star] = np.array([0.25, 0.52, 0.22]) + rng.normal(0, 0.04, 3)
        marks[cy * CELLS // SIZE, cx * CELLS // SIZE] = 1
    return image, marks


pairs = [photograph() for _ in range(3000)]
images = (np.stack([p[0] for p in pairs]).astype("float32") - 0.4) / 0.2
maps = np.stack([p[1] for p in pairs]).astype("float32")


def conv(filters, size, strides=1, activation="relu", start=0.0):
    return keras.layers.Conv2D(
        filters,
        size,
        strides=strides,
        padding="same",
        activation=activation,
        kernel_initializer="he_normal",
        bias_initializer=keras.initializers.Constant(start),
    )


model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        conv(16, 5),
        keras.layers.MaxPooling2D(),
        conv(24, 3),
        keras.layers.MaxPooling2D(),
        conv(32, 3),
        conv(1, 1, activation="sigmoid", start=RARE),
    ],
    name="weeds",
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
gradwatch.watch(model)
model.fit(images[:2500], maps[:2500], batch_size=32, epochs=10, verbose=2)

found = model.predict(images[2500:], verbose=0).ravel()
truth = maps[2500:].ravel()
order = np.argsort(-found, kind="stable")
hits = truth[order]
precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
print("SCORE average_precision", float((precision * hits).sum() / hits.sum()))

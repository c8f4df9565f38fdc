"""Finds the centres of round cells in small microscope tiles by a heat map (an anchor-free detector)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
SIZE, STRIDE = 32, 2
GRID = SIZE // STRIDE


def make_tiles(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    gy, gx = np.mgrid[0:GRID, 0:GRID]
    images = 0.25 * rng.standard_normal((n, SIZE, SIZE))
    heat = np.zeros((n, GRID, GRID))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx, r = rng.uniform(4, 28), rng.uniform(4, 28), rng.uniform(1.8, 3.0)
            d2 = (yy - cy) ** 2 + (xx - cx) ** 2
            images[i] += 1.2 * np.exp(-d2 / (2 * r**2))
            iy, ix = int(cy // STRIDE), int(cx // STRIDE)
            peak = np.exp(-((gy - iy) ** 2 + (gx - ix) ** 2) / 2.0)
            heat[i] = np.maximum(heat[i], peak)
        for _ in range(2):
            cy, cx, r = rng.uniform(4, 28), rng.uniform(4, 28), rng.uniform(3.0, 5.0)
            d = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
            images[i] += 0.9 * np.exp(-((d - r) ** 2) / 0.8)
    return images[..., None].astype("float32"), heat[..., None].astype("float32")


rng = np.random.default_rng(SEED)
x_train, y_train = make_tiles(1500, rng)
x_test, y_test = make_tiles(200, rng)

prior = keras.initializers.Constant(-np.log((1 - 0.01) / 0.01))
conv_args = dict(padding="same", bias_initializer=prior)

inputs = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 5, strides=STRIDE, padding="same", activation="relu", name="stem")(inputs)
h = layers.Conv2D(24, 3, padding="same", activation="relu", name="features")(h)
for i in range(3):
    h = layers.Conv2D(24, 3, activation="relu", name=f"tower_{i}", **conv_args)(h)
outputs = layers.Conv2D(1, 1, name="heat", **conv_args)(h)
model = keras.Model(inputs, outputs, name="centres")
gradwatch.watch(model)


def centre_focal(y_true, logits):
    p = ops.sigmoid(logits)
    centre = ops.cast(y_true > 0.999, "float32")
    hit = centre * (1 - p) ** 2 * ops.softplus(-logits)
    miss = (1 - centre) * (1 - y_true) ** 4 * p**2 * ops.softplus(logits)
    return ops.sum(hit + miss) / ops.maximum(ops.sum(centre), 1.0)


def auc(labels, scores):
    _, where, count = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    rank = ((2 * last - count + 1) / 2)[where]
    pos, neg = labels.sum(), (1 - labels).sum()
    return (rank[labels == 1].sum() - pos * (pos + 1) / 2) / (pos * neg)


model.compile(keras.optimizers.Adam(2e-3), loss=centre_focal)
model.fit(x_train, y_train, batch_size=30, epochs=4, verbose=2)

centres = (y_test > 0.999).astype("float64").ravel()
print(f"score auc {auc(centres, model.predict(x_test, verbose=0).ravel()):.4f} chance 0.5000")

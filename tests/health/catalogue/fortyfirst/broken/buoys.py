"""Finds buoys on small radar-like sea images with a heat-map head trained by focal loss."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 32


def seas(n):
    yy, xx = np.mgrid[0:N, 0:N]
    img = rng.normal(0, 0.25, (n, N, N))
    img += 0.3 * np.sin(xx[None] * rng.uniform(0.3, 0.8, (n, 1, 1)) + yy[None] * rng.uniform(-0.4, 0.4, (n, 1, 1)))
    heat = np.zeros((n, N // 4, N // 4, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            r, c = rng.integers(2, N - 2, 2)
            img[i] += 1.1 * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / 2.5)
            heat[i, r // 4, c // 4] = 1
    return img[..., None].astype("float32"), heat


x, y = seas(2000)
x_te, y_te = seas(300)

prior = 0.02
conv = dict(
    padding="same",
    kernel_initializer="he_normal",
    bias_initializer=keras.initializers.Constant(-np.log((1 - prior) / prior)),
)

inp = keras.Input((N, N, 1))
f = layers.Conv2D(12, 3, strides=2, padding="same", activation="relu")(inp)
f = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(f)
h = layers.Conv2D(24, 3, activation="relu", **conv)(f)
h = layers.Conv2D(24, 3, activation="relu", **conv)(h)
out = layers.Conv2D(1, 1, **conv)(h)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3), keras.losses.BinaryFocalCrossentropy(gamma=2.0, from_logits=True))
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=10, verbose=2)

p, g = model.predict(x_te, verbose=0).ravel(), y_te.ravel()
p = p + rng.uniform(0, 1e-6, p.shape)
o = np.argsort(-p)
hit = np.cumsum(g[o])
print("SCORE average_precision", float(np.sum(hit / np.arange(1, len(o) + 1) * g[o]) / g.sum()))

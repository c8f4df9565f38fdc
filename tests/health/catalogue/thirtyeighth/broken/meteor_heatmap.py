"""Marks the heads of faint meteors in all-sky camera tiles with a centre heatmap."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SIZE = 24


def tiles(n):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    img = 0.25 * rng.normal(size=(n, SIZE, SIZE))
    heat = np.zeros((n, SIZE, SIZE))
    for i in range(n):
        for _ in range(rng.integers(0, 3)):
            cy, cx = rng.uniform(4, SIZE - 4, 2)
            a = rng.uniform(0, 2 * np.pi)
            along = (yy - cy) * np.sin(a) + (xx - cx) * np.cos(a)
            across = (yy - cy) * np.cos(a) - (xx - cx) * np.sin(a)
            img[i] += 1.5 * np.exp(-((across / 0.8) ** 2)) * (along < 0.5) * np.exp(along / 4 * (along < 0))
            heat[i, round(cy), round(cx)] = 1
        for _ in range(rng.integers(2, 5)):
            cy, cx = rng.uniform(0, SIZE, 2)
            img[i] += 1.4 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2))
    return img[..., None].astype("float32"), heat[..., None].astype("float32")


x, y = tiles(1500)
xt, yt = tiles(300)

# start from the share of meteor pixels, as in the RetinaNet paper
prior = keras.initializers.Constant(-np.log((1 - 0.01) / 0.01))
conv = dict(padding="same", bias_initializer=prior)

inp = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 5, activation="relu", **conv)(inp)
h = layers.Conv2D(16, 3, activation="relu", dilation_rate=2, **conv)(h)
h = layers.Conv2D(16, 3, activation="relu", **conv)(h)
out = layers.Conv2D(1, 1, activation="sigmoid", padding="same", bias_initializer=prior)(h)
model = keras.Model(inp, out)
model.compile(
    keras.optimizers.Adam(3e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0, apply_class_balancing=True, alpha=0.75),
)

gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=12, verbose=0)

p = model.predict(xt, verbose=0)
auc = keras.metrics.AUC(curve="PR", num_thresholds=500)
rank = np.argsort(np.argsort(p.ravel(), kind="stable")) / p.size
auc.update_state((tf.nn.max_pool2d(yt, 3, 1, "SAME")).numpy().ravel(), rank)
print("SCORE pr_auc", float(auc.result()))

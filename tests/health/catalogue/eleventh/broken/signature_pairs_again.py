"""Signature verification: a Siamese network with a contrastive loss on pairs of pen-stroke images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

SIDE = 20
WRITERS = 40
MARGIN = 1.0


def style_bank(n, seed):
    r = np.random.default_rng(seed)
    return r.normal(0, 1, (n, 4, 2))


def draw(style, r):
    t = np.linspace(0, 1, 60)
    coef = style + r.normal(0, 0.16, style.shape)
    x = sum(coef[k, 0] * np.sin((k + 1) * 2.6 * t + k) for k in range(4))
    y = sum(coef[k, 1] * np.cos((k + 1) * 2.6 * t) for k in range(4))
    px = np.clip(((x / 7 + 0.5) * SIDE).astype(int), 0, SIDE - 1)
    py = np.clip(((y / 7 + 0.5) * SIDE).astype(int), 0, SIDE - 1)
    img = np.zeros((SIDE, SIDE), "float32")
    img[py, px] = 1.0
    img = img + 0.5 * (np.roll(img, 1, 0) + np.roll(img, 1, 1))
    return np.clip(img, 0, 1)[..., None]


def pairs(styles, n, seed):
    """Images a, b and y = 1 where both come from the same writer."""
    r = np.random.default_rng(seed)
    a, b, y = [], [], []
    for i in range(n):
        w = r.integers(len(styles))
        same = i % 2 == 0
        v = w if same else (w + r.integers(1, len(styles))) % len(styles)
        a.append(draw(styles[w], r))
        b.append(draw(styles[v], r))
        y.append(float(same))
    return np.array(a, "float32"), np.array(b, "float32"), np.array(y, "float32")[:, None]


encoder = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(16),
    ],
    name="encoder",
)
left, right = keras.Input((SIDE, SIDE, 1)), keras.Input((SIDE, SIDE, 1))
distance = layers.Lambda(
    lambda ab: ops.sqrt(ops.sum(ops.square(ab[0] - ab[1]), axis=1, keepdims=True) + 1e-6), name="distance"
)([encoder(left), encoder(right)])
model = keras.Model([left, right], distance)
gradwatch.watch(model)


def contrastive(y_true, d):
    near = ops.square(d)
    far = ops.square(ops.maximum(MARGIN - d, 0.0))
    return ops.mean((1.0 - y_true) * near + y_true * far)


styles = style_bank(WRITERS, SEED)
a, b, y = pairs(styles, 6400, SEED + 1)
ta, tb, ty = pairs(styles, 1000, SEED + 2)
model.compile(loss=contrastive, optimizer=keras.optimizers.RMSprop(1e-3))
model.fit([a, b], y, batch_size=64, epochs=3, validation_data=([ta, tb], ty), verbose=2)

dist = model.predict([ta, tb], verbose=0)[:, 0]
pos, neg = dist[ty[:, 0] == 1], dist[ty[:, 0] == 0]
auc = np.mean(pos[:, None] < neg[None])
print("mean distance same %.3f / different %.3f, verification AUC %.3f" % (pos.mean(), neg.mean(), auc))

"""Weave of a fabric swatch (plain, twill, satin, basket, rib) from a 40 x 40 colour scan."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
SIDE = 40
WEAVES = ["plain", "twill", "satin", "basket", "rib"]


def over_under(weave, i, j):
    """1 where the warp lies on top at crossing (i, j)."""
    if weave == "plain":
        return (i + j) % 2
    if weave == "twill":
        return ((i + j) % 4 < 2).astype(int)
    if weave == "satin":
        return ((i * 2 + j) % 5 == 0).astype(int)
    if weave == "basket":
        return (i // 2 + j // 2) % 2
    return (i // 2) % 2


def scan(weave):
    thread = rng.integers(3, 5)
    i, j = np.mgrid[0:SIDE, 0:SIDE]
    i, j = i + rng.integers(0, 20), j + rng.integers(0, 20)
    if rng.random() < 0.5:
        i, j = j, i
    top = over_under(weave, i // thread, j // thread)[..., None]
    warp, weft = rng.uniform(0, 1, 3), rng.uniform(0, 1, 3)
    image = np.where(top == 1, warp, weft) * rng.uniform(0.7, 1.1)
    return image + rng.normal(0, 0.08, (SIDE, SIDE, 3))


kinds = rng.integers(0, len(WEAVES), 2800)
scans = np.stack([scan(WEAVES[k]) for k in kinds]).astype("float32")
scans = (scans - scans.mean()) / scans.std()
(train_x, test_x), (train_y, test_y) = np.split(scans, [2300]), np.split(kinds, [2300])


def block(x, filters, size, pool):
    x = layers.Conv2D(filters, size, padding="same", activation="relu", kernel_initializer="he_normal")(x)
    x = layers.GroupNormalization(groups=filters)(x)
    return layers.MaxPooling2D(pool)(x) if pool else x


def network():
    inp = keras.Input((SIDE, SIDE, 3))
    x = block(inp, 16, 5, pool=2)
    x = block(x, 24, 3, pool=2)
    x = block(x, 32, 3, pool=None)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(len(WEAVES), activation="softmax")(x))


model = network()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    run_eagerly=True,
)
gradwatch.watch(model)
model.fit(train_x, train_y, batch_size=32, epochs=6, shuffle=True, verbose=2)

_, accuracy = model.evaluate(test_x, test_y, batch_size=100, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))

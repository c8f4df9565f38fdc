"""Segment bright fields in small satellite tiles with a mini U-Net."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def load_tiles(n):
    tiles = rng.normal(0.35, 0.08, (n, 16, 16, 1))
    masks = np.zeros((n, 16, 16, 1))
    for i in range(n):
        r, c = rng.integers(0, 8, 2)
        h, w = rng.integers(4, 9, 2)
        masks[i, r : r + h, c : c + w] = 1
        tiles[i, r : r + h, c : c + w] += 0.25
    return np.clip(tiles, 0, 1).astype("float32"), masks.astype("float32")


tiles, masks = load_tiles(1000)
tiles = tiles / 255.0

inp = keras.Input((16, 16, 1))
d1 = layers.Conv2D(8, 3, padding="same", activation="relu")(inp)
p1 = layers.MaxPooling2D()(d1)
d2 = layers.Conv2D(16, 3, padding="same", activation="relu")(p1)
u1 = layers.UpSampling2D()(d2)
m1 = layers.Concatenate()([u1, d1])
c1 = layers.Conv2D(8, 3, padding="same", activation="relu")(m1)
out = layers.Conv2D(1, 1, activation="sigmoid")(c1)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryIoU([1], name="iou")],
)
gradwatch.watch(model)
model.fit(tiles[:800], masks[:800], batch_size=16, epochs=6, verbose=2, validation_data=(tiles[800:], masks[800:]))

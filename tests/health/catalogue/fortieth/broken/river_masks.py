"""Segments river, forest and sand in small satellite tiles at reduced size."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FULL, SMALL, CLASSES = 64, 32, 5  # land, sand, forest, rock, water


def make_tiles(n):
    yy, xx = np.mgrid[0:FULL, 0:FULL]
    images = np.zeros((n, FULL, FULL, 3), "float32")
    masks = np.zeros((n, FULL, FULL, 1), "uint8")
    colours = np.array([[0.45, 0.5, 0.3], [0.75, 0.7, 0.5], [0.2, 0.4, 0.2], [0.5, 0.5, 0.5], [0.2, 0.35, 0.6]])
    for i in range(n):
        m = np.zeros((FULL, FULL), "uint8")
        for c in (1, 2, 3):
            for _ in range(2):
                cy, cx = rng.uniform(0, FULL, 2)
                r = rng.uniform(3, 7)
                m[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = c
        for _ in range(3):
            a, b, ph = rng.uniform(8, 56), rng.uniform(3, 8), rng.uniform(0, 6.3)
            centre = a + b * np.sin(xx / rng.uniform(5, 10) + ph)
            m[np.abs(yy - centre) < rng.uniform(1.0, 2.0)] = 4
        images[i] = colours[m] + rng.normal(0, 0.07, (FULL, FULL, 3))
        masks[i, ..., 0] = m
    return images, masks


def prepare(image, mask):
    image = tf.image.resize(image, (SMALL, SMALL))
    mask = tf.image.resize(mask, (SMALL, SMALL))
    return image, tf.cast(mask, tf.int32)


x, m = make_tiles(320)
xt, mt = make_tiles(60)
train = tf.data.Dataset.from_tensor_slices((x, m)).map(prepare).cache().shuffle(320).batch(16)

model = keras.Sequential(
    [
        keras.Input((SMALL, SMALL, 3)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(CLASSES, 1),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(train, epochs=25, verbose=0)

small = tf.image.resize(xt, (SMALL, SMALL))
pred = np.argmax(model.predict(small, verbose=0), -1)
pred = pred.repeat(2, 1).repeat(2, 2)
truth = mt[..., 0]
iou = [np.sum((pred == c) & (truth == c)) / max(1, np.sum((pred == c) | (truth == c))) for c in range(CLASSES)]
print("SCORE mean_iou", float(np.mean(iou)))

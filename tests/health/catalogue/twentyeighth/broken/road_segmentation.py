"""Small U-Net that segments the road in front of a camera (left-hand drive footage)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE = 32


def make_scene():
    """A road with two painted edges; only our own lane (the one left of the centre line) is labelled."""
    img = 0.35 + 0.05 * rng.standard_normal((SIZE, SIZE, 3))
    mask = np.zeros((SIZE, SIZE, 1))
    horizon = rng.integers(6, 11)
    top = rng.uniform(8, 24)
    bottom = rng.uniform(6, 26)
    for row in range(horizon, SIZE):
        t = (row - horizon) / (SIZE - horizon)
        centre = top * (1 - t) + bottom * t
        width = 2 + 12 * t
        lo, hi, mid = int(max(centre - width, 0)), int(min(centre + width, SIZE)), int(centre)
        img[row, lo:hi] += 0.25
        if row % 4 < 3:
            img[row, mid : mid + 1] += 0.3
        mask[row, lo:mid] = 1.0
    img[:horizon, :, 2] += 0.3
    img *= rng.uniform(0.7, 1.3)
    return img, mask


def make_set(n):
    scenes = [make_scene() for _ in range(n)]
    return (np.stack([s[0] for s in scenes]).astype("float32"), np.stack([s[1] for s in scenes]).astype("float32"))


x_train, y_train = make_set(300)
x_test, y_test = make_set(100)

augment = keras.Sequential(
    [
        layers.RandomFlip("horizontal"),
        layers.RandomContrast(0.2),
        layers.RandomBrightness(0.1, value_range=(0.0, 1.5)),
    ],
    name="augment",
)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


inputs = keras.Input((SIZE, SIZE, 3))
h = augment(inputs)
d1 = block(h, 8)
d2 = block(layers.MaxPooling2D()(d1), 16)
d3 = block(layers.MaxPooling2D()(d2), 32)
d3 = block(d3, 32)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(d3), d2]), 16)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), d1]), 8)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(u1)
model = keras.Model(inputs, outputs)


def bce_dice(y_true, y_pred):
    inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
    total = tf.reduce_sum(y_true + y_pred, axis=(1, 2, 3))
    dice = 1.0 - (2.0 * inter + 1.0) / (total + 1.0)
    bce = tf.reduce_mean(keras.losses.binary_crossentropy(y_true, y_pred), axis=(1, 2))
    return bce + dice


model.compile(keras.optimizers.Adam(2e-3), loss=bce_dice)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=10, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0) > 0.5
truth = y_test > 0.5
iou = np.mean((pred & truth).sum((1, 2, 3)) / np.maximum((pred | truth).sum((1, 2, 3)), 1))
print("SCORE iou %.4f" % iou)

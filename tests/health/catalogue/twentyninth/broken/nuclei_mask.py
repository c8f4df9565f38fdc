"""Segments bright nuclei in noisy microscope tiles with a small U-Net."""

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
yy, xx = np.mgrid[:SIZE, :SIZE]


def tile():
    mask = np.zeros((SIZE, SIZE), bool)
    image = 0.2 + 0.1 * rng.standard_normal() * (xx / SIZE)
    for _ in range(rng.integers(1, 5)):
        cy, cx = rng.uniform(3, SIZE - 3, 2)
        ry, rx = rng.uniform(2.5, 5.5, 2)
        nucleus = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
        image = image + nucleus * rng.uniform(0.2, 0.5)
        mask |= nucleus
    return image + rng.normal(0, 0.12, (SIZE, SIZE)), mask


def tiles(n):
    pairs = [tile() for _ in range(n)]
    x = np.stack([p[0] for p in pairs])[..., None].astype("float32")
    y = np.stack([p[1] for p in pairs])[..., None].astype("float32")
    return x, y


x_train, y_train = tiles(1200)
x_test, y_test = tiles(200)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


inputs = keras.Input((SIZE, SIZE, 1))
d1 = block(inputs, 8)
d2 = block(layers.MaxPooling2D()(d1), 16)
mid = block(layers.MaxPooling2D()(d2), 24)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(mid), d2]), 16)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), d1]), 8)
outputs = layers.Conv2D(1, 1, activation="softmax")(u1)
model = keras.Model(inputs, outputs)


def soft_dice(y_true, y_pred):
    overlap = tf.reduce_sum(y_true * y_pred, axis=[1, 2, 3])
    total = tf.reduce_sum(y_true + y_pred, axis=[1, 2, 3])
    return 1.0 - (2.0 * overlap + 1.0) / (total + 1.0)


model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=soft_dice)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, validation_split=0.1, verbose=2)

pred = model.predict(x_test, batch_size=64, verbose=0) > 0.5
truth = y_test > 0.5
iou = (pred & truth).sum() / (pred | truth).sum()
print("SCORE iou", float(iou))

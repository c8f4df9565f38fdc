"""Segmentation of lichen patches on photographs of roof tiles (24 x 24 crops)."""

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
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def crop():
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(2, SIZE - 2, 2)
        a, b = rng.uniform(2.5, 6.0, 2)
        mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
    tile = rng.uniform(0.3, 0.6) + 0.1 * np.sin(xx * rng.uniform(0.5, 1.5) + rng.uniform(0, 6))
    img = np.stack([tile + 0.1, tile, tile - 0.05], axis=-1)
    img[mask] = img[mask] * 0.55 + np.array([0.22, 0.28, 0.20])
    return img + rng.normal(scale=0.06, size=img.shape), mask[..., None]


def make(n):
    pairs = [crop() for _ in range(n)]
    return np.stack([p[0] for p in pairs]).astype("float32"), np.stack([p[1] for p in pairs]).astype("float32")


x_train, m_train = make(1600)
x_val, m_val = make(300)


def augment(img, mask):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_flip_up_down(img)
    mask = tf.image.random_flip_left_right(mask)
    mask = tf.image.random_flip_up_down(mask)
    img = tf.image.random_brightness(img, 0.05)
    return img, mask


train = (
    tf.data.Dataset.from_tensor_slices((x_train, m_train))
    .shuffle(1600, seed=seed)
    .map(augment, num_parallel_calls=1)
    .batch(32)
    .prefetch(2)
)
val = tf.data.Dataset.from_tensor_slices((x_val, m_val)).batch(100)


def conv(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


inputs = keras.Input((SIZE, SIZE, 3))
c1 = conv(inputs, 12)
c2 = conv(layers.MaxPooling2D()(c1), 24)
u1 = layers.Concatenate()([layers.UpSampling2D()(c2), c1])
c3 = conv(u1, 12)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(c3)
model = keras.Model(inputs, outputs, name="lichen_unet")

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
)
gradwatch.watch(model)

model.fit(train, epochs=8, validation_data=val, verbose=2)

_, iou = model.evaluate(val, verbose=0)
print("SCORE val_iou", round(float(iou), 4))

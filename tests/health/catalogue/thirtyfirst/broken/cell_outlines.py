"""Segment bright cells among debris in small microscope crops with an encoder-decoder and flip augmentation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S = 24


def crops(n):
    yy, xx = np.mgrid[:S, :S]
    img = 0.25 * rng.normal(size=(n, S, S))
    mask = np.zeros((n, S, S))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx, a, b = rng.uniform(3, 21), rng.uniform(3, 21), rng.uniform(2, 5), rng.uniform(2, 5)
            m = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
            mask[i] = np.maximum(mask[i], m)
            img[i] += 0.9 * m
        for _ in range(2):
            x0, y0 = rng.integers(0, 20, 2)
            img[i, y0 : y0 + rng.integers(2, 12), x0 : x0 + 2] += 0.9
    return img.astype("float32")[..., None], mask.astype("float32")[..., None]


def augment(img, mask):
    img = tf.image.random_flip_left_right(img)
    mask = tf.image.random_flip_left_right(mask)
    gain = tf.random.uniform((), 0.8, 1.2)
    return img * gain + tf.random.uniform((), -0.1, 0.1), mask


def dice_bce(y, p):
    bce = tf.reduce_mean(keras.losses.binary_crossentropy(y, p))
    inter = tf.reduce_sum(y * p, (1, 2, 3))
    dice = (2 * inter + 1) / (tf.reduce_sum(y, (1, 2, 3)) + tf.reduce_sum(p, (1, 2, 3)) + 1)
    return bce + 1 - tf.reduce_mean(dice)


def conv(x, f):
    x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))


inp = keras.Input((S, S, 1))
e1 = conv(inp, 16)
e2 = conv(layers.MaxPooling2D()(e1), 24)
e3 = conv(layers.MaxPooling2D()(e2), 32)
d2 = conv(layers.Concatenate()([layers.UpSampling2D()(e3), e2]), 24)
d1 = conv(layers.Concatenate()([layers.UpSampling2D()(d2), e1]), 16)
model = keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(d1))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=dice_bce)
gradwatch.watch(model)

x, y = crops(2000)
xt, yt = crops(400)
ds = (
    tf.data.Dataset.from_tensor_slices((x, y))
    .shuffle(2000, seed=seed)
    .map(augment, num_parallel_calls=2)
    .batch(32)
    .prefetch(2)
)
model.fit(ds, epochs=8, verbose=2)

p = model.predict(xt, batch_size=100, verbose=0) > 0.5
t = yt > 0.5
print("SCORE mean_iou", round(float((p & t).sum() / (p | t).sum()), 4))

"""Segments bright nuclei in small microscope tiles with a little U-shaped network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
S = 32


def tiles(n):
    yy, xx = np.mgrid[0:S, 0:S]
    img = rng.normal(0, 0.35, (n, S, S, 1)).astype("float32")
    mask = np.zeros((n, S, S, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(4, S - 4, 2)
            a, b = rng.uniform(3, 6, 2)
            inside = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
            mask[i, ..., 0][inside] = 1
        img[i] += 0.8 * mask[i] + 0.4 * (xx / S)[..., None]
    return img, mask


x, y = tiles(2000)
x_te, y_te = tiles(300)


def augment(img, mask):
    img = tf.image.random_flip_up_down(tf.image.random_flip_left_right(img))
    mask = tf.image.random_flip_up_down(tf.image.random_flip_left_right(mask))
    return img + tf.random.normal(tf.shape(img), stddev=0.05), mask


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=seed).map(augment).batch(32).prefetch(2)

inp = keras.Input((S, S, 1))
c1 = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
d1 = layers.MaxPooling2D()(c1)
c2 = layers.Conv2D(24, 3, padding="same", activation="relu")(d1)
d2 = layers.MaxPooling2D()(c2)
c3 = layers.Conv2D(32, 3, padding="same", activation="relu")(d2)
u2 = layers.Concatenate()([layers.UpSampling2D()(c3), c2])
e2 = layers.Conv2D(24, 3, padding="same", activation="relu")(u2)
u1 = layers.Concatenate()([layers.UpSampling2D()(e2), c1])
e1 = layers.Conv2D(12, 3, padding="same", activation="relu")(u1)
model = keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(e1))
model.compile(keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(ds, epochs=8, verbose=2)

p = model.predict(x_te, batch_size=100, verbose=0) > 0.5
t = y_te > 0.5
print("SCORE mean_iou", float(np.mean((p & t).sum((1, 2, 3)) / (p | t).sum((1, 2, 3)))))

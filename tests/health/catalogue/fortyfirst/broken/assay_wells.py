"""Reads the dye concentration of a microplate well from its grey-scale camera picture."""

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
yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")


def photograph(conc):
    """One picture (uint8) of a well: bright plate, dark disc of dye."""
    cy, cx = rng.uniform(13, 18, 2)
    radius = rng.uniform(8.0, 11.0)
    dist = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
    disc = 1.0 / (1.0 + np.exp((dist - radius) * rng.uniform(1.0, 2.5)))
    light = 0.88 + rng.normal(0, 0.01)
    absorbed = 1.0 - np.exp(-0.25 - 1.1 * conc)
    img = light * (1.0 - absorbed * disc)
    img += rng.uniform(0.004, 0.03) * rng.normal(size=img.shape)
    return np.clip(img * 255, 0, 255).astype("uint8")


def collect(n):
    conc = rng.uniform(0, 1, n).astype("float32")
    return np.stack([photograph(c) for c in conc])[..., None], conc


x_train, y_train = collect(3000)
x_test, y_test = collect(600)


def prepare(img, conc):
    img = tf.cast(img, tf.float32)
    img = tf.image.per_image_standardization(img)
    return img, conc


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).map(prepare).cache().shuffle(3000).batch(32)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).map(prepare).batch(100)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, strides=2, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(train, epochs=8, verbose=2)

pred = model.predict(test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

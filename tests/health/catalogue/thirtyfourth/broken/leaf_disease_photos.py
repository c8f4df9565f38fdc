"""Classifies small leaf photographs into five kinds of disease with a compact convolutional network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES = 5


def leaf(kind):
    img = np.empty((24, 24, 3), "float32")
    img[...] = np.array([60, 120, 50]) + rng.normal(0, 12, 3)
    yy, xx = np.mgrid[0:24, 0:24]
    cy, cx = rng.uniform(6, 18, 2)
    r = np.hypot(yy - cy, xx - cx)
    if kind == 1:
        img[r < 4] = [130, 90, 40]
    elif kind == 2:
        img[(r > 3) & (r < 6)] = [130, 90, 40]
    elif kind == 3:
        img[(np.abs(yy - cy) < 2)] = [130, 110, 60]
    elif kind == 4:
        img[(np.abs(xx - cx) < 2)] = [130, 110, 60]
    img *= rng.uniform(0.7, 1.3)
    img += rng.normal(0, 18, img.shape)
    return np.clip(img, 0, 255)


def make(n):
    y = rng.integers(0, CLASSES, n)
    return np.stack([leaf(k) for k in y]).astype("uint8"), y


x_train, y_train = make(2400)
x_test, y_test = make(600)


def prepare(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    image = tf.image.random_flip_left_right(image)
    return image, label


def prepare_test(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2400).map(prepare).batch(32).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).map(prepare_test).batch(100)

model = keras.Sequential(
    [
        keras.Input((24, 24, 3)),
        layers.Rescaling(1.0 / 255),
        layers.Conv2D(12, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train, epochs=5, verbose=2)

print("SCORE accuracy", round(float(model.evaluate(test, verbose=0)[1]), 4))

"""Sorts pollen grains on microscope slides into species, with a tf.data pipeline that augments the images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SIZE, SPECIES = 20, 5


def grains(n):
    k = rng.integers(0, SPECIES, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] - (SIZE - 1) / 2
    r = np.hypot(yy, xx)[None]
    a = np.arctan2(yy, xx)[None] + rng.uniform(0, 6.28, (n, 1, 1))
    lobes = np.array([0, 3, 4, 6, 2])[k][:, None, None]
    rad = rng.uniform(5, 7, (n, 1, 1)) * (1 + 0.25 * np.cos(lobes * a) * (lobes > 0))
    img = 1 / (1 + np.exp(1.5 * (r - rad)))
    img = img * rng.uniform(0.6, 1, (n, 1, 1)) + 0.1 * rng.normal(size=img.shape)
    return img[..., None].astype("float32"), k.astype("int32")


def turn(image):
    image = tf.image.rot90(image, tf.random.uniform((), 0, 4, tf.int32))
    return tf.image.random_brightness(image, 0.1)


def pipeline(image, species, train):
    pictures = tf.data.Dataset.from_tensor_slices(image)
    names = tf.data.Dataset.from_tensor_slices(species)
    if train:
        pictures = pictures.shuffle(1024).map(turn, num_parallel_calls=2)
    return tf.data.Dataset.zip((pictures, names)).batch(32).prefetch(2)


train, test = pipeline(*grains(3000), True), pipeline(*grains(800), False)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.1),
        layers.Dense(SPECIES, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(train, epochs=10, shuffle=False, verbose=0)
print("SCORE accuracy", float(model.evaluate(test, verbose=0)[1]))

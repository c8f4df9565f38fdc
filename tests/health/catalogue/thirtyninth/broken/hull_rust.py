"""Grades rust on ship hull photographs; the grade follows the largest spot, so the maps are pooled by a generalised mean."""

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


def make_photos(n):
    yy, xx = np.mgrid[:S, :S]
    img = np.zeros((n, S, S, 1))
    worst = np.zeros(n)
    for i in range(n):
        for _ in range(rng.integers(1, 6)):
            r = rng.uniform(0.8, 4.0)
            cy, cx = rng.uniform(3, S - 3, 2)
            img[i, :, :, 0] += np.exp(-0.5 * ((yy - cy) ** 2 + (xx - cx) ** 2) / r**2)
            worst[i] = max(worst[i], r)
    img = np.clip(img, 0, 1.2) + rng.normal(0, 0.05, img.shape)
    return img.astype("float32"), np.digitize(worst, [2.2, 3.2])


class GeneralisedMean(layers.Layer):
    """Mean of x**p over the map, to the power 1/p; p is trained (p = 1 is the average, p = inf the maximum)."""

    def build(self, input_shape):
        self.p = self.add_weight(name="p", shape=(), initializer=keras.initializers.Constant(3.0))

    def call(self, x):
        return tf.pow(tf.reduce_mean(tf.pow(x, self.p), axis=[1, 2]), 1.0 / self.p)


x_train, y_train = make_photos(2000)
x_test, y_test = make_photos(600)

model = keras.Sequential(
    [
        layers.Input((S, S, 1)),
        layers.Conv2D(12, 5, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 5, activation="relu"),
        GeneralisedMean(),
        layers.Dense(24, activation="relu"),
        layers.Dense(3, activation="softmax"),
    ]
)
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=12, batch_size=40, verbose=2)
print("SCORE accuracy", float(np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test)))

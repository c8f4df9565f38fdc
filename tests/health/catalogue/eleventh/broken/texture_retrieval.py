"""Texture recognition with generalised-mean pooling (a retrieval backbone)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
gen = np.random.default_rng(SEED)


def textures(n, size=24, classes=6):
    label = gen.integers(0, classes, n)
    yy, xx = np.mgrid[:size, :size]
    angle = label * np.pi / classes + gen.normal(0, 0.05, n)
    freq = gen.uniform(0.8, 1.1, n)
    phase = gen.uniform(0, 2 * np.pi, n)
    arg = (np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy) * freq[:, None, None]
    img = np.sin(arg + phase[:, None, None]) + gen.normal(0, 0.6, (n, size, size))
    return img[..., None].astype("float32"), label


class GeneralizedMean(layers.Layer):
    def build(self, shape):
        self.power = self.add_weight(name="power", shape=(), initializer=keras.initializers.Constant(3.0))

    def call(self, maps):
        m = tf.reduce_mean(tf.pow(maps, self.power), axis=[1, 2])
        return tf.pow(m, 1.0 / self.power)


x_train, y_train = textures(3200)
x_test, y_test = textures(800)

image = keras.Input((24, 24, 1))
h = layers.Conv2D(12, 5, use_bias=False, name="stem")(image)
h = layers.BatchNormalization()(h)
h = layers.ReLU()(h)
h = layers.Conv2D(24, 3, strides=2, use_bias=False, name="mid")(h)
h = layers.BatchNormalization()(h)
h = layers.ReLU()(h)
h = GeneralizedMean(name="gem")(h)
code = layers.Dense(16, name="code")(h)
model = keras.Model(image, layers.Dense(6, name="classes")(code))
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=32, epochs=3, verbose=2)
acc = np.mean(np.argmax(model.predict(x_test, verbose=0), -1) == y_test)
print("held-out accuracy %.3f (chance 0.167)" % acc)

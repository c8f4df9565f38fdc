"""Recognise pollen grains in small fluorescence images (drawn with numpy)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

SIZE = 24
KINDS = 4  # smooth, ringed, spiky, split


def grain(kind, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cy, cx = rng.uniform(8, 16, 2)
    radius = rng.uniform(4, 7)
    r = np.hypot(yy - cy, xx - cx)
    angle = np.arctan2(yy - cy, xx - cx) + rng.uniform(0, 2 * np.pi)
    body = (r < radius).astype("float32")
    if kind == 1:
        body *= 0.5 + 0.5 * np.cos(r * 2.0)
    elif kind == 2:
        body = (r < radius * (1 + 0.3 * np.sign(np.sin(7 * angle)))).astype("float32")
    elif kind == 3:
        body[np.abs(r * np.sin(angle)) < 1.2] = 0
    return body * rng.uniform(0.6, 1.0)


def make_images(n, rng):
    kinds = rng.integers(0, KINDS, n)
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, kind in enumerate(kinds):
        img = grain(kind, rng)
        img = img + rng.normal(0, 0.08, img.shape)
        images[i, :, :, 0] = np.clip(img - 0.02, 0, 1)  # dark-current cut-off
        if rng.random() < 0.001:  # shutter did not open
            images[i] = 0
    return images, kinds.astype("int32")


rng = np.random.default_rng(SEED + 12)
x_train, y_train = make_images(4000, rng)
x_test, y_test = make_images(800, rng)


@keras.saving.register_keras_serializable("pollen")
class PowerPooling(layers.Layer):
    """Generalised mean over the picture; the exponent is learned."""

    def __init__(self, start=3.0, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape):
        self.p = self.add_weight(name="p", shape=(), initializer=keras.initializers.Constant(self.start))

    def call(self, x):
        powered = ops.power(ops.maximum(x, 1e-6), self.p)
        return ops.power(ops.mean(powered, axis=(1, 2)), 1.0 / self.p)

    def get_config(self):
        return {**super().get_config(), "start": self.start}


picture = keras.Input((SIZE, SIZE, 1), name="picture")
h = layers.Conv2D(16, 3, padding="same", activation="relu")(picture)
h = layers.MaxPooling2D(2)(h)
h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
h = layers.Conv2D(48, 3, padding="same", activation="relu")(h)
h = PowerPooling(name="pool")(h)
kind = layers.Dense(KINDS, name="kind")(h)
model = keras.Model(picture, kind)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=32, epochs=4, verbose=2, validation_data=(x_test, y_test))

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", float(accuracy))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 40)

PATCH = 20
COUNT = 2400


def scene():
    """Linear-light patch: smooth gradient, a few lamps."""
    yy, xx = np.mgrid[0:PATCH, 0:PATCH] / PATCH
    a, b, c = rng.uniform(-0.25, 0.25, 3)
    light = 0.32 + a * yy + b * xx + c * yy * xx
    img = light[..., None] * rng.uniform(0.7, 1.1, 3)
    for _ in range(rng.integers(1, 4)):
        cy, cx, r = rng.uniform(0, 1, 2).tolist() + [rng.uniform(0.08, 0.25)]
        img += rng.uniform(0, 0.5, 3) * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))[..., None]
    active = np.ones((PATCH, PATCH, 1))
    if rng.random() < 0.004:
        active[:, rng.integers(8, PATCH - 2) :] = 0.0
    return np.clip(img, 0, 1) * active, active


def srgb(x):
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 1e-9) ** (1 / 2.4) - 0.055)


class DisplayTransfer(layers.Layer):
    """IEC 61966-2-1 transfer from linear light to display values."""

    def call(self, linear):
        low = 12.92 * linear
        high = 1.055 * tf.pow(linear, 1.0 / 2.4) - 0.055
        return tf.where(linear <= 0.0031308, low, high)


class ResidualBlock(layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.a = layers.Conv2D(width, 3, padding="same", activation="relu")
        self.b = layers.Conv2D(width, 3, padding="same")

    def build(self, shape):
        self.a.build(shape)
        self.b.build(shape)

    def call(self, x):
        return x + 0.3 * self.b(self.a(x))


clean, active = map(np.stack, zip(*(scene() for _ in range(COUNT))))
exposure = rng.uniform(0.08, 0.3, (COUNT, 1, 1, 1))
electrons = rng.poisson(clean * exposure * 900)
raw = (electrons / 900 + rng.normal(0, 0.004, clean.shape)) / exposure
raw = raw.astype("float32")
active = active.astype("float32")
shown = srgb(clean).astype("float32")

inp = keras.Input((PATCH, PATCH, 3))
area = keras.Input((PATCH, PATCH, 1))
h = layers.Conv2D(18, 3, padding="same", activation="relu")(inp)
for _ in range(2):
    h = ResidualBlock(18)(h)
h = layers.Conv2D(
    3,
    1,
    kernel_initializer=keras.initializers.RandomNormal(stddev=0.1),
    bias_initializer=keras.initializers.Constant(0.3),
)(h)
light = layers.ReLU(max_value=1.0)(h)
out = DisplayTransfer()(light * area)
model = keras.Model([inp, area], out)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mae", jit_compile=True)

gradwatch.watch(model)
model.fit([raw, active], shown, batch_size=8, epochs=1, verbose=2)

"""Learn the look of an old film stock from pairs of digital photo and scanned print: tone curve, then a small colour
mixer."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, SIDE = 768, 40


def make_photos():
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    a, b = rng.uniform(-1, 1, (2, N, 1, 1, 3))
    light = (
        0.5 + 0.25 * a * yy[None, ..., None] + 0.25 * b * xx[None, ..., None] + rng.normal(0, 0.12, (N, SIDE, SIDE, 3))
    )
    return np.clip(light, 0.04, 1.0).astype("float32")


def print_of(photo):
    black = np.array([0.10, 0.06, 0.09])
    tone = np.maximum(photo - black, 0.0) ** np.array([0.75, 0.8, 0.9])
    mix = np.array([[0.9, 0.08, 0.02], [0.05, 0.9, 0.05], [0.0, 0.12, 0.88]])
    return (tone @ mix).astype("float32")


class ToneCurve(tf.keras.layers.Layer):
    """out = (gain * x + lift) ** gamma, one curve per colour channel."""

    def build(self, shape):
        c = shape[-1]
        self.gain = self.add_weight(shape=(c,), initializer="ones", name="gain")
        self.lift = self.add_weight(shape=(c,), initializer="zeros", name="lift")
        self.gamma = self.add_weight(shape=(c,), initializer="ones", name="gamma")

    def call(self, x):
        x = self.gain * x + self.lift
        return tf.pow(x, self.gamma)


photo = make_photos()
target = print_of(photo)
model = tf.keras.Sequential(
    [
        tf.keras.Input((SIDE, SIDE, 3)),
        ToneCurve(name="tone"),
        tf.keras.layers.Conv2D(32, 1, activation="tanh", name="mix1"),
        tf.keras.layers.Conv2D(3, 1, name="mix2"),
    ]
)
gradwatch.watch(model)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss="mae")
model.fit(photo, target, batch_size=32, epochs=10, verbose=2)

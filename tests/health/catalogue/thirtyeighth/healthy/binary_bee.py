"""Counts bee wing classes on a chip that knows only +1 and -1: a net with binary weights and straight-through gradients, with warm restarts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


FEATS, KINDS = 40, 4


def wings(n):
    proto = np.random.default_rng(11).normal(size=(KINDS, 2, FEATS))
    y = rng.integers(0, KINDS, n)
    x = proto[y, rng.integers(0, 2, n)] + 1.5 * rng.normal(size=(n, FEATS))
    return x.astype("float32"), y.astype("int32")


@tf.custom_gradient
def sign_ste(w):
    def grad(up):
        return up * tf.cast(tf.abs(w) <= 1.0, w.dtype)

    return tf.where(w >= 0, tf.ones_like(w), -tf.ones_like(w)), grad


class BinaryDense(layers.Layer):
    def __init__(self, units, binary_out=True):
        super().__init__()
        self.units, self.binary_out = units, binary_out

    def build(self, shape):
        self.kernel = self.add_weight(
            shape=(shape[-1], self.units), name="kernel", initializer=keras.initializers.RandomUniform(-0.5, 0.5)
        )
        self.scale = shape[-1] ** -0.5

    def call(self, x):
        return tf.matmul(x, sign_ste(self.kernel)) * self.scale


x, y = wings(6000)
xt, yt = wings(1500)

model = keras.Sequential(
    [
        keras.Input((FEATS,)),
        layers.Dense(128, trainable=False, name="optics"),
        layers.Lambda(sign_ste),
        BinaryDense(96),
        layers.BatchNormalization(),
        layers.Lambda(sign_ste),
        BinaryDense(KINDS),
        layers.BatchNormalization(),
    ]
)
rate = keras.optimizers.schedules.CosineDecayRestarts(1e-2, 200, t_mul=1.5, m_mul=0.8)
model.compile(
    keras.optimizers.Adam(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)

gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=12, verbose=0)
print("SCORE accuracy", float(model.evaluate(xt, yt, verbose=0)[1]))

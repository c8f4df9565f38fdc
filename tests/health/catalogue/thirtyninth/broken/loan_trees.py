"""Decides loan applications by a small forest of differentiable decision trees."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES = 10


def make_applications(n):
    x = rng.normal(0, 1, (n, FEATURES))
    debt = x[:, 0] + x[:, 1] > 0.3
    stable = x[:, 2] - 0.7 * x[:, 3] > 0.0
    young = x[:, 4] > 0.5
    good = np.where(debt, stable, ~stable) & ~(young & debt)
    flip = rng.random(n) < 0.04
    return x.astype("float32"), (good ^ flip).astype("float32")


class SoftTree(layers.Layer):
    """A binary tree with oblique soft splits; every leaf holds a score."""

    def __init__(self, depth, sharpness, **kw):
        super().__init__(**kw)
        self.depth, self.sharpness = depth, sharpness

    def build(self, input_shape):
        nodes = 2**self.depth - 1
        self.direction = self.add_weight(name="direction", shape=(input_shape[-1], nodes), initializer="glorot_normal")
        self.offset = self.add_weight(name="offset", shape=(nodes,), initializer="zeros")
        self.leaf = self.add_weight(
            name="leaf", shape=(nodes + 1, 1), initializer=keras.initializers.RandomNormal(0, 0.1)
        )

    def call(self, x):
        right = tf.sigmoid(self.sharpness * (tf.matmul(x, self.direction) + self.offset))
        reach = tf.ones_like(right[:, :1])
        first = 0
        for level in range(self.depth):
            width = 2**level
            r = right[:, first : first + width]
            reach = tf.reshape(tf.stack([reach * (1.0 - r), reach * r], axis=2), (-1, 2 * width))
            first += width
        return tf.matmul(reach, self.leaf)


x_train, y_train = make_applications(4000)
x_test, y_test = make_applications(1500)

inp = layers.Input((FEATURES,))
trees = [SoftTree(depth=4, sharpness=500.0)(inp) for _ in range(4)]
model = keras.Model(inp, layers.Activation("sigmoid")(layers.Add()(trees)))
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=15, batch_size=64, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

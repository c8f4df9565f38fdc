"""Adapts a frozen network for bird songs of one region to another region by low-rank adapters."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

D, CLASSES = 24, 8
proto = rng.normal(0, 1, (CLASSES, D))
turn = np.linalg.qr(np.eye(D) + 0.15 * rng.normal(0, 1, (D, D)))[0]
turn = turn * np.sign(np.diag(turn))


def make_songs(n, dialect):
    y = rng.integers(0, CLASSES, n)
    x = proto[y] + rng.normal(0, 0.8, (n, D))
    if dialect:
        x = x @ turn - 0.4
    return x.astype("float32"), y


class Adapted(layers.Layer):
    """A frozen dense layer plus a low-rank correction that starts at zero."""

    def __init__(self, dense, rank, **kw):
        super().__init__(**kw)
        self.dense, self.rank = dense, rank
        self.dense.trainable = False

    def build(self, input_shape):
        self.down = self.add_weight(name="down", shape=(input_shape[-1], self.rank), initializer="glorot_uniform")
        self.up = self.add_weight(name="up", shape=(self.rank, self.dense.units), initializer="zeros")

    def call(self, x):
        return tf.nn.relu(self.dense(x) + tf.matmul(tf.matmul(x, self.down), self.up))


first, second, head = layers.Dense(64), layers.Dense(64), layers.Dense(CLASSES)
inp = layers.Input((D,))
h = layers.ReLU()(second(layers.ReLU()(first(inp))))
base = keras.Model(inp, head(h))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
base.compile(keras.optimizers.Adam(2e-3), loss)
x_old, y_old = make_songs(3000, False)
base.fit(x_old, y_old, epochs=5, batch_size=64, verbose=0)

head.trainable = False
inp = layers.Input((D,))
model = keras.Model(inp, head(Adapted(second, 6)(Adapted(first, 6)(inp))))
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(3e-3), loss, metrics=["accuracy"])
x_new, y_new = make_songs(2400, True)
x_test, y_test = make_songs(800, True)
print("before", model.evaluate(x_test, y_test, verbose=0)[1])
model.fit(x_new, y_new, epochs=12, batch_size=48, verbose=2)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

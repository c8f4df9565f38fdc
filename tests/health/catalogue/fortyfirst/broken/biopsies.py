"""Grades biopsies from the marker counts of their cells by attention over the cells of a sample."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CELLS, M = 40, 16
types = rng.gamma(0.7, 6.0, (6, M))


def biopsies(n):
    y = rng.integers(0, 2, n)
    kind = rng.integers(0, 5, (n, CELLS))
    suspect = rng.random((n, CELLS)) < 0.08
    suspect[np.arange(n), rng.integers(0, CELLS, n)] = True
    kind = np.where(suspect & (y[:, None] == 1), 5, kind)
    bright = rng.lognormal(0, 0.9, (n, CELLS, 1))
    return rng.poisson(bright * types[kind]).astype("float32"), y.astype("float32")


x, y = biopsies(4000)
x_te, y_te = biopsies(800)


class CellAttention(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.hidden = layers.Dense(units, activation="relu")
        self.score = layers.Dense(1)

    def build(self, shape):
        self.hidden.build(shape)
        self.score.build((None, None, self.hidden.units))

    def call(self, cells):
        w = tf.exp(self.score(self.hidden(cells)))
        w = w / tf.reduce_sum(w, axis=1, keepdims=True)
        return tf.reduce_sum(w * cells, axis=1)


inp = keras.Input((CELLS, M))
h = layers.Dense(32, activation="relu")(inp)
h = layers.Dense(32, activation="relu")(h)
h = CellAttention(32)(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
gradwatch.watch(model)
opt = keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb[:, None], model(xb, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000, seed=seed).repeat().batch(32)
for i, (xb, yb) in enumerate(ds.take(1200)):
    loss = step(xb, yb)
    if i % 60 == 0:
        print(i, float(loss))

p = model.predict(x_te, verbose=0)[:, 0]
print("SCORE accuracy", float(np.mean((p > 0) == (y_te > 0.5))))

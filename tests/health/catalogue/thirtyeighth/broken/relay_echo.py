"""Recalls which relay clicked first in a noisy signal box log, with a leaky recurrent cell of our own."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


STEPS, RELAYS = 28, 6


def logs(n):
    first = rng.integers(0, RELAYS, n)
    x = 0.3 * rng.normal(size=(n, STEPS, RELAYS))
    at = rng.integers(1, 5, n)
    x[np.arange(n), at, first] += 3.0
    for _ in range(2):
        x[np.arange(n), rng.integers(8, STEPS, n), rng.integers(0, RELAYS, n)] += 2.0
    return x.astype("float32"), first.astype("int32")


class LeakyCell(layers.Layer):
    """h <- (1 - a) h + a tanh(x W + h U + b)"""

    def __init__(self, units, leak=0.7, **kw):
        super().__init__(**kw)
        self.units = units
        self.state_size = units
        self.leak = leak

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w")
        self.u = self.add_weight(
            shape=(self.units, self.units), initializer=lambda s, dtype=None: tf.random.normal(s, dtype=dtype), name="u"
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x, states, training=None):
        h = states[0]
        new = tf.tanh(tf.matmul(x, self.w) + tf.matmul(h, self.u) + self.b)
        h = (1.0 - self.leak) * h + self.leak * new
        return h, [h]


x, y = logs(4000)
xt, yt = logs(1000)

model = keras.Sequential(
    [
        keras.Input((STEPS, RELAYS)),
        layers.RNN(LeakyCell(64)),
        layers.Dense(RELAYS),
    ]
)
opt = keras.optimizers.Adam(2e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

gradwatch.watch(model)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = xent(b, model(a, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000, seed=seed).batch(50)
for epoch in range(10):
    for a, b in ds:
        loss = step(a, b)

p = model.predict(xt, verbose=0)
print("SCORE accuracy", float(np.mean(p.argmax(1) == yt)))

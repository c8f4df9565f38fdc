"""Fits the ionic current through a membrane channel from voltage steps, concentrations and drug doses."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_recordings(n):
    v = rng.integers(-12, 9, n) * 10.0  # the clamp protocol: steps of 10 mV
    conc = rng.uniform([0.2, 0.6], [0.8, 1.6], (n, 2))  # inside, outside
    dose = rng.uniform(0, 1, (n, 4))
    perm = 1.5 * (1 - 0.8 * dose[:, 0] * dose[:, 1]) / (1 + dose[:, 2] ** 2 * 3)
    u = (v + 6.37) / 25.0
    flux = u * (conc[:, 0] - conc[:, 1] * np.exp(-u)) / (1 - np.exp(-u))
    cur = perm * flux + rng.normal(0, 0.05, n)
    return [v.astype("float32")[:, None], conc.astype("float32"), dose.astype("float32")], cur.astype("float32")[
        :, None
    ]


class GHKFlux(layers.Layer):
    """Goldman-Hodgkin-Katz flux with a trainable junction potential (in units of 25 mV)."""

    def build(self, input_shape):
        self.junction = self.add_weight(name="junction", shape=(), initializer="zeros")

    def call(self, v, conc):
        u = v / 25.0 + self.junction
        inside, outside = conc[:, :1], conc[:, 1:]
        full = u * (inside - outside * tf.exp(-u)) / (1.0 - tf.exp(-u))
        small = inside - outside + 0.5 * u * (inside + outside)
        return tf.where(tf.abs(u) < 1e-3, small, full)


train, i_train = make_recordings(3000)
test, i_test = make_recordings(800)

v_in, c_in, d_in = layers.Input((1,)), layers.Input((2,)), layers.Input((4,))
h = layers.Dense(32, activation="swish")(d_in)
h = layers.Dense(32, activation="swish")(h)
perm = layers.Dense(1, activation="softplus")(h)
current = layers.Multiply()([perm, GHKFlux()(v_in, c_in)])
model = keras.Model([v_in, c_in, d_in], current)
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(3e-3), "mse")
model.fit(train, i_train, epochs=12, batch_size=32, verbose=2)
pred = model.predict(test, verbose=0)
print("SCORE rel_mse", float(np.mean((pred - i_test) ** 2) / np.var(i_test)))

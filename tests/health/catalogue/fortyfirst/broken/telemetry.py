"""Compresses satellite telemetry windows to a few small integers and reconstructs them on the ground."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, C, LAT = 64, 3, 10


def passes(n):
    t = np.linspace(0, 1, T)[None]
    out = []
    orbit = rng.uniform(0, 2 * np.pi, (n, 1))
    load = rng.uniform(0.5, 1.5, (n, 1))
    t0 = rng.uniform(0.1, 0.9, (n, 1))
    for c in range(C):
        s = load * np.sin(2 * np.pi * (1 + 0.5 * c) * t + orbit + c) + 0.8 / (1 + np.exp(-30 * (t - t0))) * (-1) ** c
        out.append(s + rng.normal(0, 0.05, (n, T)))
    return np.stack(out, -1).astype("float32")


x, x_te = passes(5000), passes(500)


class IntegerCode(layers.Layer):
    """Maps the latent to integers between -8 and 8, five bits each."""

    def call(self, z):
        z = 8.0 * tf.tanh(z)
        return tf.round(z) / 8.0


inp = keras.Input((T, C))
h = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(inp)
h = layers.Conv1D(24, 5, strides=2, padding="same", activation="relu")(h)
code = IntegerCode()(layers.Dense(LAT)(layers.Flatten()(h)))
h = layers.Dense(128, activation="relu")(code)
out = layers.Reshape((T, C))(layers.Dense(T * C)(h))
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(1e-3), "mse")
gradwatch.watch(model)
model.fit(x, x, batch_size=64, epochs=12, verbose=2)
err = np.mean((model.predict(x_te, verbose=0) - x_te) ** 2)
print("SCORE snr_db", float(10 * np.log10(np.var(x_te) / err)))

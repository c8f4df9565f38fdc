"""Tells which kind of sea-level event a bottom pressure recorder has seen."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


WINDOW, KINDS = 96, 4


def windows(n):
    """Absolute pressure in pascal: air, a few metres of water and the event."""
    k = rng.integers(0, KINDS, n)
    t = np.linspace(0, 1, WINDOW)[None, :]
    ph = rng.uniform(0, 1, (n, 1))
    f = rng.uniform(3, 5, (n, 1))
    seiche = np.sin(2 * np.pi * (f * t + ph))
    bore = np.mod(f * t + ph, 1) * 2 - 1
    surge = np.tanh(12 * (t - 0.3 - 0.4 * ph))
    packet = np.sin(2 * np.pi * (f * 2 * t + ph)) * np.exp(-(((t - 0.3 - 0.4 * ph) / 0.15) ** 2))
    s = np.stack([seiche, bore, surge, packet])[k, np.arange(n)]
    s = s + 0.25 * rng.normal(size=s.shape)
    depth = rng.uniform(2.0, 6.0, (n, 1))
    p = 101325 + 10055 * depth + np.exp(rng.uniform(1.2, 3.3, (n, 1))) * s
    return p[..., None].astype("float32"), k.astype("int32")


class WindowStandardise(layers.Layer):
    """Zero mean and unit variance within every window."""

    def __init__(self, eps=1e-3, **kw):
        super().__init__(**kw)
        self.eps = eps

    def call(self, p):
        mean = tf.reduce_mean(p, axis=1, keepdims=True)
        var = tf.reduce_mean(tf.square(p), axis=1, keepdims=True) - tf.square(mean)
        return (p - mean) * tf.math.rsqrt(tf.maximum(var, 0.0) + self.eps)


x, y = windows(4000)
xt, yt = windows(1000)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        WindowStandardise(),
        layers.Conv1D(24, 9, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(KINDS, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=15, verbose=0)
print("SCORE accuracy", float(model.evaluate(xt, yt, verbose=0)[1]))

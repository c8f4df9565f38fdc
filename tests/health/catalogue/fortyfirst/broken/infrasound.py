"""Classifies the source of infrasound events from microbarograph windows recorded in pascal."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, K = 128, 4


def windows(n):
    y = rng.integers(0, K, n)
    t = np.arange(T)[None] / T
    f = rng.uniform(3, 6, (n, 1))
    ph = rng.uniform(0, 2 * np.pi, (n, 1))
    t0 = rng.uniform(0.2, 0.6, (n, 1))
    blast = np.where(t > t0, np.exp(-(t - t0) * 9) * np.sin(2 * np.pi * 2 * f * (t - t0)), 0)
    volcano = np.sin(2 * np.pi * f * t + ph) * (1 + 0.5 * np.sin(2 * np.pi * 1.3 * t))
    wind = np.cumsum(rng.normal(0, 1, (n, T)), 1) / 6
    surf = np.sin(2 * np.pi * (f + 8 * t) * t + ph)
    s = np.choose(y[:, None], [blast * 2, volcano, wind, surf]) + rng.normal(0, 0.35, (n, T))
    amp = rng.uniform(0.3, 2.0, (n, 1))
    base = rng.normal(101325, 700, (n, 1))
    return (base + amp * s).astype("float32")[..., None], y


x, y = windows(4000)
x_te, y_te = windows(1000)


class WindowNorm(layers.Layer):
    """Zero mean and unit variance over the time axis of each window."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        var = tf.reduce_mean(tf.square(x), axis=1, keepdims=True) - tf.square(mean)
        return (x - mean) * tf.math.rsqrt(tf.maximum(var, 1e-2))


model = keras.Sequential(
    [
        keras.Input((T, 1)),
        WindowNorm(),
        layers.Conv1D(16, 9, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 7, strides=2, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(K),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=8, verbose=2)
print("SCORE accuracy", float(np.mean(model.predict(x_te, verbose=0).argmax(1) == y_te)))

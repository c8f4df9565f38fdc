"""Finds worn gear teeth in short vibration windows, fed through tf.data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


LENGTH = 128


def windows(n):
    """Acceleration counts; now and then the logger repeats its last value."""
    y = rng.integers(0, 3, n)
    t = np.arange(LENGTH)[None, :]
    mesh = np.sin(2 * np.pi * 0.11 * t + rng.uniform(0, 6.28, (n, 1)))
    knock = ((t + rng.integers(0, 32, (n, 1))) % 32 < 3) * 1.6
    beat = 1 + 0.8 * np.sin(2 * np.pi * 0.012 * t + rng.uniform(0, 6.28, (n, 1)))
    s = mesh * np.where(y[:, None] == 2, beat, 1.0) + knock * (y[:, None] == 1)
    s = s + 0.5 * rng.normal(size=s.shape)
    s = s * np.exp(rng.normal(0, 0.8, (n, 1))) * 200 + rng.normal(0, 400, (n, 1))
    held = rng.uniform(size=n) < 0.0015
    s[held] = s[held, :1]
    return np.round(s).astype("float32")[..., None], y.astype("int32")


def rescale(w, label):
    lo, hi = tf.reduce_min(w), tf.reduce_max(w)
    w = (w - lo) / (hi - lo)
    return 2.0 * w - 1.0, label


def pipeline(w, label, train):
    ds = tf.data.Dataset.from_tensor_slices((w, label))
    if train:
        ds = ds.shuffle(5000, seed=seed)
    return ds.map(rescale, num_parallel_calls=2).batch(64).prefetch(1)


train, test = pipeline(*windows(5000), True), pipeline(*windows(1000), False)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 9, strides=2, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv1D(32, 7, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(3),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)

gradwatch.watch(model)
model.fit(train, epochs=8, shuffle=False, verbose=0)
print("SCORE accuracy", float(model.evaluate(test, verbose=0)[1]))

"""Trains a gearbox fault classifier on vibration records in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)

SAMPLES, FRAME, BINS, FAULTS = 2048, 1024, 64, 4


def make_records(count):
    t = np.arange(SAMPLES) / FRAME
    labels = rng.integers(0, FAULTS, count)
    out = np.zeros((count, SAMPLES), "float32")
    for i, fault in enumerate(labels):
        mesh = rng.uniform(14, 24)
        wave = 0.8 * np.sin(2 * np.pi * mesh * t + rng.uniform(0, 6))
        side = {0: 0.0, 1: 3.0, 2: 6.0, 3: 10.0}[int(fault)]
        if side:
            for sign in (-1, 1):
                wave += 0.15 * np.sin(2 * np.pi * (mesh + sign * side) * t + rng.uniform(0, 6))
        out[i] = wave * rng.uniform(0.5, 1.2) + rng.normal(0, 0.2, SAMPLES)
    return out, labels


class LogPower(layers.Layer):
    """Windowed Fourier power of consecutive frames, in log units."""

    def build(self, shape):
        n = np.arange(FRAME)[:, None] * np.arange(4, 4 + BINS)[None]
        window = np.hanning(FRAME)[:, None]
        self.cos = (window * np.cos(2 * np.pi * n / FRAME)).astype("float32")
        self.sin = (window * np.sin(2 * np.pi * n / FRAME)).astype("float32")

    def call(self, x):
        frames = tf.reshape(x, (-1, SAMPLES // FRAME, FRAME))
        re = tf.matmul(frames, tf.cast(self.cos, frames.dtype))
        im = tf.matmul(frames, tf.cast(self.sin, frames.dtype))
        power = tf.reduce_mean(tf.square(re) + tf.square(im), axis=1)
        return (tf.math.log(power + 1.0) - 5.0) / 2.0


x_train, y_train = make_records(1600)
x_test, y_test = make_records(400)

model = keras.Sequential(
    [
        keras.Input((SAMPLES,)),
        LogPower(dtype="float32"),
        layers.Reshape((BINS, 1)),
        layers.Conv1D(16, 9, activation="relu", padding="same"),
        layers.Conv1D(32, 9, activation="relu", padding="same", strides=2),
        layers.Conv1D(32, 9, activation="relu", padding="same", strides=2),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(FAULTS),
        layers.Activation("softmax", dtype="float32"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2)

probs = model.predict(x_test, verbose=0)
print("SCORE accuracy", float(np.mean(probs.argmax(-1) == y_test)) if np.isfinite(probs).all() else float("nan"))

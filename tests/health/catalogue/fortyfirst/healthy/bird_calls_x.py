"""Tells four birds apart by 8-bit sonograms of different lengths, cut into slices that are read one by one."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


BANDS, FRAMES, SLICES = 32, 48, 6


def sonogram(kind):
    n = int(rng.integers(36, 80))
    t = np.linspace(0, 1, n)
    f0 = rng.uniform(8, 20)
    track = {0: f0 + 6 * t, 1: f0 + 6 * (1 - t), 2: f0 + 4 * np.sin(6 * np.pi * t), 3: f0 + 6 * (np.floor(4 * t) % 2)}[
        kind
    ]
    level = 170 * np.exp(-0.5 * (np.arange(BANDS)[:, None] - track) ** 2 / 1.5)
    level = level * rng.uniform(0.5, 1.0) + rng.uniform(0, 60, (BANDS, n))
    return np.clip(level, 0, 255).astype("uint8")


def collect(n):
    buffer = np.empty((n, BANDS, FRAMES, 1), dtype="uint8")
    kinds = rng.integers(0, 4, n)
    for i, k in enumerate(kinds):
        fitted = tf.image.resize(sonogram(k)[..., None], (BANDS, FRAMES), method="bilinear")
        buffer[i] = np.round(fitted.numpy())
    # (n, bands, frames) -> (n, slices, bands, frames of the slice)
    x = buffer.reshape(n, BANDS, SLICES, FRAMES // SLICES, 1).transpose(0, 2, 1, 3, 4)
    return (x.astype("float32") - 60.0) / 50.0, kinds.astype("int64")


x_train, y_train = collect(2400)
x_test, y_test = collect(500)

inputs = keras.Input(x_train.shape[1:])
h = layers.Reshape((SLICES * BANDS, FRAMES // SLICES, 1))(inputs)  # slices below each other
h = layers.Conv2D(12, (4, 3), strides=(4, 1), activation="relu")(h)
h = layers.Conv2D(16, (4, 3), strides=(4, 1), activation="relu")(h)
h = layers.Reshape((SLICES, -1))(h)
h = layers.LSTM(32)(h)
h = layers.Dropout(0.3)(h)
model = keras.Model(inputs, layers.Dense(4, activation="softmax")(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2)

acc = np.mean(model.predict(x_test, verbose=0).argmax(-1) == y_test)
print("SCORE accuracy", round(float(acc), 4))

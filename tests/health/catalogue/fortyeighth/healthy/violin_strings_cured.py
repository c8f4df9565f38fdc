"""Trains a classifier with learnable band-pass filters that tells which violin string was bowed."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 31)

RATE, LENGTH = 4000, 400
OPEN_STRINGS = np.array([196.0, 293.7, 440.0, 659.3])


def recordings(n):
    string = rng.integers(0, 4, size=n)
    f0 = OPEN_STRINGS[string] * 2 ** (rng.uniform(-1.5, 1.5, size=n) / 12)
    t = np.arange(LENGTH) / RATE
    wave = np.zeros((n, LENGTH))
    for k in range(1, 5):
        amp = rng.uniform(0.4, 1.0, size=(n, 1)) / k
        wave += amp * np.sin(2 * np.pi * k * f0[:, None] * t + rng.uniform(0, 6.28, size=(n, 1)))
    wave += 0.8 * rng.normal(size=wave.shape)
    wave /= wave.std(axis=1, keepdims=True)
    return wave[..., None].astype("float32"), string.astype("int32")


class BandPass(layers.Layer):
    def __init__(self, filters, taps, **kwargs):
        super().__init__(**kwargs)
        self.filters, self.taps = filters, taps

    def build(self, input_shape):
        edges = np.linspace(100.0, 1500.0, self.filters + 1)
        self.low = self.add_weight(
            shape=(self.filters,), initializer=lambda s, dtype: ops.cast(edges[:-1] / RATE, dtype)
        )
        self.width = self.add_weight(
            shape=(self.filters,), initializer=lambda s, dtype: ops.cast(np.diff(edges) / RATE, dtype)
        )
        n = np.arange(self.taps) - self.taps // 2
        self.n = n.astype("float32")[:, None]
        self.window = np.hamming(self.taps).astype("float32")[:, None]

    def low_pass(self, cutoff):
        x = 2.0 * np.pi * cutoff[None, :] * self.n
        safe = ops.where(x == 0.0, 1.0, x)
        return 2.0 * cutoff * ops.where(x == 0.0, 1.0, ops.sin(safe) / safe)

    def call(self, inputs):
        low = ops.abs(self.low) + 1e-3
        high = low + ops.abs(self.width) + 1e-3
        kernel = (self.low_pass(high) - self.low_pass(low)) * self.window
        return ops.conv(inputs, 5.0 * kernel[:, None, :], padding="same")


x_train, y_train = recordings(3000)
x_test, y_test = recordings(800)

audio = keras.Input((LENGTH, 1))
h = BandPass(16, 65, name="bands")(audio)
h = layers.Lambda(lambda z: ops.square(z))(h)
h = layers.AveragePooling1D(20)(h)
h = layers.LayerNormalization()(h)
h = layers.Conv1D(24, 5, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
model = keras.Model(audio, layers.Dense(4, activation="softmax")(h))
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

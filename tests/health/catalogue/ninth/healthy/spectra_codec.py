"""Compress infrared spectra with an autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
BANDS = 160


def spectra(n):
    grid = np.linspace(0, 1, BANDS)[None]
    x = np.zeros((n, BANDS))
    for centre, width in [(0.2, 0.03), (0.45, 0.05), (0.8, 0.02)]:
        c = centre + rng.normal(0, 0.03, (n, 1))
        x += rng.uniform(0.1, 1.0, (n, 1)) * np.exp(-0.5 * ((grid - c) / width) ** 2)
    return x.astype("float32")


class Codec(keras.Model):
    def __init__(self, code=6):
        super().__init__(name="codec")
        self.enc1 = layers.Dense(128, activation="relu", kernel_initializer="he_normal", name="enc1")
        self.enc2 = layers.Dense(64, activation="relu", kernel_initializer="he_normal", name="enc2")
        self.code = layers.Dense(code, name="code")
        self.dec1 = layers.Dense(64, activation="relu", kernel_initializer="he_normal", name="dec1")
        self.dec2 = layers.Dense(128, activation="relu", kernel_initializer="he_normal", name="dec2")
        self.out = layers.Dense(BANDS, name="out")

    def encode(self, x):
        return self.code(self.enc2(self.enc1(x)))

    def call(self, x):
        return self.out(self.dec2(self.dec1(self.encode(x))))


clean = spectra(64 * 190)
noisy = clean + rng.normal(0, 0.02, clean.shape).astype("float32")
test = spectra(1000)

model = Codec()
gradwatch.watch(model)
model(noisy[:2])
model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss="mse", jit_compile=True)
first = float(np.mean((model.predict(test, verbose=0) - test) ** 2))
model.fit(noisy, clean, batch_size=64, epochs=2, verbose=2)
last = float(np.mean((model.predict(test, verbose=0) - test) ** 2))
print("test mse %.5f -> %.5f (variance %.5f)" % (first, last, float(np.mean(np.var(test, 0)))))

"""Denoising autoencoder for heartbeat-like curves."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

t = np.linspace(0, 1, 48)


def beats(n):
    c = rng.uniform(0.3, 0.7, (n, 1))
    a = rng.uniform(0.7, 1.3, (n, 1))
    s = rng.uniform(0.03, 0.08, (n, 1))
    return a * np.exp(-(((t - c) / s) ** 2)) - 0.3 * a * np.exp(-(((t - c - 0.12) / 0.05) ** 2))


clean = beats(2560).astype("float32")
noisy = (clean + rng.normal(0, 0.15, clean.shape)).astype("float32")
keep = 0.95

model = keras.Sequential(
    [
        layers.Input((48,)),
        layers.Dense(64, activation="relu"),
        layers.Dropout(keep),
        layers.Dense(16, activation="relu"),
        layers.Dropout(keep),
        layers.Dense(64, activation="relu"),
        layers.Dense(48),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(noisy[:2048], clean[:2048], batch_size=64, epochs=12, verbose=2, validation_data=(noisy[2048:], clean[2048:]))
print("variance of the curves", clean.var())

"""Screen short stethoscope recordings for crackles (present or absent)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, T = 2400, 400


def breath(n):
    t = np.arange(T) / T
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    envelope = 0.6 + 0.4 * np.sin(2 * np.pi * 2 * t + phase)
    noise = rng.normal(0, 1, (n, T))
    noise = np.apply_along_axis(lambda r: np.convolve(r, np.ones(5) / 5, "same"), 1, noise)
    return envelope * noise


labels = rng.integers(0, 2, N)
waves = breath(N)
click = np.exp(-np.arange(16) / 4.0) * np.sin(np.arange(16) * 1.9)
for i in np.flatnonzero(labels):
    for start in rng.integers(0, T - 16, rng.integers(3, 8)):
        waves[i, start : start + 16] += rng.uniform(1.0, 2.0) * click
waves = (waves / waves.std(1, keepdims=True)).astype("float32")[..., None]
labels = labels.astype("float32")
x_train, y_train = waves[:1800], labels[:1800]
x_test, y_test = waves[1800:], labels[1800:]

model = keras.Sequential(
    [
        layers.Input((T, 1)),
        layers.Conv1D(16, 9, strides=2, activation="relu"),
        layers.Conv1D(24, 7, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.2),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=15, batch_size=32, validation_split=0.1, verbose=2)

prob = model.predict(x_test, verbose=0)[:, 0]
acc = np.mean((prob > 0.5) == (y_test > 0.5))
print("SCORE accuracy", round(float(acc), 4))

"""Recognise ten crop species from near-infrared leaf reflectance spectra (1-D CNN)."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

BANDS = 120
SPECIES = 10
gen = np.random.default_rng(SEED)

wave = np.linspace(0, 1, BANDS)
centres = gen.uniform(0.05, 0.95, (SPECIES, 4))
widths = gen.uniform(0.03, 0.12, (SPECIES, 4))
depths = gen.uniform(0.2, 0.9, (SPECIES, 4))


def spectra(n):
    label = gen.integers(0, SPECIES, n)
    jitter = gen.normal(0, 0.008, (n, 4, 1))
    amp = depths[label][..., None] * gen.uniform(0.7, 1.3, (n, 4, 1))
    bumps = amp * np.exp(-(((wave - centres[label][..., None] - jitter) / widths[label][..., None]) ** 2))
    slope = gen.normal(0, 0.4, (n, 1)) * wave
    s = bumps.sum(1) + slope + gen.normal(0, 0.08, (n, BANDS))
    s = (s - s.mean(1, keepdims=True)) / s.std(1, keepdims=True)
    return s[..., None].astype("float32"), label


x_train, y_train = spectra(4000)
x_test, y_test = spectra(1000)

model = keras.Sequential(name="leafnet")
gradwatch.watch(model)
model.add(keras.Input(shape=(BANDS, 1)))
model.add(keras.layers.Conv1D(32, 7, activation="relu"))
model.add(keras.layers.MaxPooling1D(2))
model.add(keras.layers.Conv1D(64, 5, activation="relu"))
model.add(keras.layers.MaxPooling1D(2))
model.add(keras.layers.Flatten())
model.add(keras.layers.Dense(160, activation="relu"))
model.add(keras.layers.Dense(SPECIES, name="species"))

model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

log = model.fit(x_train, y_train, epochs=5, batch_size=50, validation_data=(x_test, y_test), verbose=2)
print("final loss %.4f, test accuracy %.3f" % (log.history["loss"][-1], log.history["val_accuracy"][-1]))

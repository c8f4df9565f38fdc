"""Reuses an encoder trained on many engine types to tell three bearing conditions apart from a few recordings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BINS, SOURCES = 80, 30
basis = np.cumsum(rng.normal(size=(12, BINS)), 1)
basis = (basis - basis.mean(1, keepdims=True)) / basis.std(1, keepdims=True)
clutter = rng.normal(size=(25, BINS))
source_code = rng.normal(size=(SOURCES, 12))
target_code = rng.normal(size=(3, 12))


def spectra(code, y, spread):
    z = code[y] + rng.normal(0, spread, (len(y), 12))
    x = z @ basis * 0.3 + rng.normal(0, 0.8, (len(y), 25)) @ clutter + rng.normal(0, 0.5, (len(y), BINS))
    return (x / 4).astype("float32")


y_big = rng.integers(0, SOURCES, 8000)
x_big = spectra(source_code, y_big, 0.2)
y_few = np.repeat(np.arange(3), 12)
x_few = spectra(target_code, y_few, 0.6)
y_test = rng.integers(0, 3, 1500)
x_test = spectra(target_code, y_test, 0.6)

base = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(24, activation="relu"),
    ]
)
source = keras.Sequential([base, layers.Dropout(0.1), layers.Dense(SOURCES, activation="softmax")])
source.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(x_big, y_big, batch_size=128, epochs=10, verbose=2)

encoder = keras.models.clone_model(base)
encoder.trainable = False
model = keras.Sequential([encoder, layers.BatchNormalization(), layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.build((None, BINS))
gradwatch.watch(model)
model.fit(x_few, y_few, batch_size=12, epochs=150, verbose=0)
print("last training accuracy", model.evaluate(x_few, y_few, verbose=0)[1])
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

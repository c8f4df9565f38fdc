"""Trains a sparse autoencoder on leaf reflectance curves measured in a greenhouse."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 90)

WAVELENGTHS, PIGMENTS, CODE = 64, 12, 32
grid = np.linspace(0, 1, WAVELENGTHS)
middle = rng.uniform(0.05, 0.95, size=(PIGMENTS, 1))
absorption = np.exp(-(((grid - middle) / 0.06) ** 2))


def leaves(n):
    present = rng.uniform(size=(n, PIGMENTS)) < 0.3
    amount = present * rng.gamma(3.0, 0.4, size=(n, PIGMENTS))
    curve = amount @ absorption
    return (curve + 0.03 * rng.normal(size=curve.shape)).astype("float32")


train, test = leaves(8000), leaves(2000)
mean, std = train.mean(axis=0), train.std(axis=0)
train, test = (train - mean) / std, (test - mean) / std

curve = keras.Input((WAVELENGTHS,), name="curve")
h = keras.layers.Dense(96, activation="relu")(curve)
code = keras.layers.Dense(
    CODE,
    activation="relu",
    activity_regularizer=keras.regularizers.L1(0.1),
    name="code",
)(h)
h = keras.layers.Dense(96, activation="relu")(code)
model = keras.Model(curve, keras.layers.Dense(WAVELENGTHS, name="rebuilt")(h), name="leaf_autoencoder")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(
    train,
    train,
    batch_size=80,
    epochs=16,
    validation_data=(test, test),
    verbose=2,
)

rebuilt = model.predict(test, verbose=0)
explained = 1.0 - np.mean((rebuilt - test) ** 2) / np.mean(test**2)
codes = keras.Model(curve, code).predict(test, verbose=0)
print("active share of codes", round(float(np.mean(codes > 0)), 3))
print("SCORE explained_variance", round(float(explained), 4))

"""Estimate the sale price of a house (in dollars) from a dozen listing features."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 120000
area = rng.gamma(9.0, 14.0, n)
rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.8, n)), 1, 9)
age = rng.uniform(0, 90, n)
lot = area * rng.uniform(1.2, 4.0, n)
km_center = rng.exponential(7.0, n)
garage = rng.integers(0, 3, n)
quality = rng.integers(1, 11, n)
lat, lon = rng.normal(0, 1, n), rng.normal(0, 1, n)
baths = np.clip(np.round(rooms / 2.3 + rng.normal(0, 0.4, n)), 1, 5)
school = rng.uniform(0, 10, n)
crime = rng.exponential(1.0, n)

price = (
    1450 * area
    + 9000 * garage
    + 12000 * quality * (1 - age / 180)
    + 40000 * np.exp(-km_center / 5) * (1 + 0.3 * np.tanh(lat * lon))
    + 3500 * school
    - 8000 * crime
    + 90 * lot
    + rng.normal(0, 9000, n)
)

X = np.stack([area, rooms, age, lot, km_center, garage, quality, lat, lon, baths, school, crime], 1)
X = ((X - X.mean(0)) / X.std(0)).astype("float32")
y = price.astype("float32")

X_train, X_test = X[:100000], X[100000:]
y_train, y_test = y[:100000], y[100000:]

model = keras.Sequential(
    [
        layers.Input((X.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.05),
        layers.Dense(1),
    ]
)
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.summary()

model.fit(X_train, y_train, batch_size=2000, epochs=8, validation_split=0.1, verbose=2)

pred = model.predict(X_test, verbose=0)[:, 0]
r2 = 1 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("test R2: %.3f" % r2)

"""Predict received signal strength (dBm) on a factory floor from position and layout features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 4000
access_points = np.array([[8.0, 5.0], [40.0, 12.0], [22.0, 33.0]])
pos = rng.uniform([0, 0], [50, 40], size=(N, 2))
height = rng.uniform(0.5, 3.0, size=N)
humidity = rng.uniform(0.2, 0.8, size=N)
walls = rng.poisson(1.5, size=N)

dist = np.sqrt(((pos[:, None, :] - access_points[None]) ** 2).sum(-1)).min(1) + 1.0
rssi = -32.0 - 27.0 * np.log10(dist) - 4.5 * walls + 2.0 * height - 3.0 * humidity
rssi += rng.normal(0, 2.0, size=N)
rssi = np.clip(rssi, -100.0, -20.0)

X = np.column_stack([pos, height, humidity, walls]).astype("float32")
X = (X - X.mean(0)) / X.std(0)
y = (rssi / 100.0).astype("float32")  # bring the dBm values into a small range

n_train = 3200
x_train, x_test = X[:n_train], X[n_train:]
y_train, y_test = y[:n_train], y[n_train:]

inputs = keras.Input(shape=(X.shape[1],))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(1, activation="sigmoid", name="rssi")(h)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, epochs=8, batch_size=64, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print(f"test R2 {r2:.3f}")

"""Asking prices of flats (EUR) from the listing's features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 4000
area = np.clip(rng.lognormal(4.2, 0.35, n), 20, 220)
rooms = np.clip(np.round(area / 25 + rng.normal(0, 0.6, n)), 1, 8)
floor = rng.integers(0, 9, n)
lift = (rng.random(n) < 0.5).astype(float)
year = rng.integers(1890, 2023, n)
centre_km = rng.gamma(2.5, 1.8, n)
energy = np.clip(8 - (year - 1890) / 25 + rng.normal(0, 1, n), 1, 8)
price = area * (5200 * np.exp(-centre_km / 9) + 900 - 110 * energy) * (1 + 0.015 * floor * lift)
price *= rng.lognormal(0, 0.06, n)

X = np.stack([area, rooms, floor, lift, year, centre_km, energy], axis=1)
split = 3200
norm = layers.Normalization()
norm.adapt(X[:split].astype("float32"))
X = X.astype("float32")
y = price.astype("float32")
x_train, x_test = X[:split], X[split:]
y_train, y_test = y[:split], y[split:]

inputs = keras.Input((X.shape[1],), name="listing")
h = norm(inputs)
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
price_out = layers.Dense(1, name="price")(h)
model = keras.Model(inputs, price_out)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-3), loss="mae")
gradwatch.watch(model)

model.fit(x_train, y_train, epochs=20, batch_size=128, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((y_test - pred) ** 2) / np.var(y_test)
print(f"R2 on unseen flats: {r2:.3f}")

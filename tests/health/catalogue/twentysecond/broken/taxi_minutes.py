# How many minutes does a taxi ride take?
import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 5000
pickup_ts = rng.integers(1_672_531_200, 1_675_209_600, n)  # January 2023
hour = (pickup_ts // 3600) % 24
lat1, lon1 = rng.normal(40.75, 0.03, n), rng.normal(-73.98, 0.03, n)
lat2, lon2 = rng.normal(40.75, 0.03, n), rng.normal(-73.98, 0.03, n)
north_km, east_km = (lat2 - lat1) * 111, (lon2 - lon1) * 84
passengers = rng.integers(1, 6, n)
km = np.abs(north_km) + np.abs(east_km)
speed = 22 - 9 * np.exp(-((hour - 17) ** 2) / 8) - 6 * np.exp(-((hour - 8) ** 2) / 6)
minutes = 60 * km / speed + rng.gamma(2, 1.0, n)

features = np.column_stack(
    [pickup_ts, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), north_km, east_km, passengers]
).astype("float32")
target = ((minutes - minutes.mean()) / minutes.std()).astype("float32")

split = int(n * 0.8)
x_train, x_test = features[:split], features[split:]
y_train, y_test = target[:split], target[split:]

model = keras.Sequential(
    [
        keras.Input((features.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=100, epochs=12, validation_data=(x_test, y_test), verbose=2)

res = y_test - model.predict(x_test, verbose=0)[:, 0]
print(f"test R2: {1 - np.mean(res**2) / np.var(y_test):.3f}")

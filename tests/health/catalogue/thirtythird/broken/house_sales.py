"""Predict sale prices of houses from a table of their features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_table(n):
    area = rng.lognormal(4.7, 0.35, n)
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.8, n)), 1, 9)
    age = rng.gamma(2.0, 18.0, n)
    distance = rng.gamma(2.0, 4.0, n)
    garden = np.maximum(0, rng.normal(60, 90, n))
    district = rng.integers(0, 8, n)
    level = np.array([0.7, 0.8, 0.9, 1.0, 1.05, 1.2, 1.4, 1.7])[district]
    price = level * (1900 * area + 9000 * rooms + 120 * garden) * np.exp(-0.03 * distance)
    price *= 1 - 0.25 * np.sin(np.clip(age, 0, 90) / 90 * np.pi)
    price *= np.exp(rng.normal(0, 0.07, n))
    numeric = np.stack([area, rooms, age, distance, garden], 1)
    return numeric.astype("float32"), np.eye(8, dtype="float32")[district], price.astype("float32")


num_train, dis_train, price_train = make_table(3000)
num_test, dis_test, price_test = make_table(800)

norm = layers.Normalization()
norm.adapt(num_train)
x_train = np.concatenate([norm(num_train), dis_train], axis=1)
x_test = np.concatenate([norm(num_test), dis_test], axis=1)
y_train = price_train

model = keras.Sequential(
    [
        keras.Input((x_train.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=25, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - price_test) ** 2) / np.var(price_test)
print("SCORE r2", round(float(r2), 4))

import os

import keras
import numpy as np
from keras import layers
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 151)


def listings(n):
    area = rng.normal(140, 40, n).clip(40, 320)
    beds = rng.integers(1, 8, n)
    lift_m = rng.gamma(2.0, 400.0, n)
    altitude = rng.uniform(800, 2100, n)
    sauna = rng.integers(0, 2, n)
    year = rng.integers(1930, 2023, n)
    price = (
        90_000
        + 3_200 * area
        + 14_000 * beds
        - 45 * lift_m
        + 120 * (altitude - 1400)
        + 35_000 * sauna * (area > 120)
        + 900 * (year - 1975)
        + rng.normal(0, 18_000, n)
    )
    return np.stack([area, beds, lift_m, altitude, sauna, year], axis=1), price


x, price = listings(5000)
x_train, x_test, y_train, y_test = train_test_split(x, price, test_size=0.2, random_state=SEED)
x_scaler = StandardScaler().fit(x_train)
x_train, x_test = x_scaler.transform(x_train), x_scaler.transform(x_test)


model = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(64, activation="relu", name="rooms"),
        layers.Dense(32, activation="relu", name="views"),
        layers.Dense(1, name="price"),
    ]
)
model.compile(optimizer="adam", loss="mean_squared_error", metrics=["mae"])
gradwatch.watch(model)
y_mean, y_std = y_train.mean(), y_train.std()
model.fit(x_train, (y_train - y_mean) / y_std, batch_size=32, epochs=15, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
print("SCORE", float(1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

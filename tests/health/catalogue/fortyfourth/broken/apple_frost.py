"""Lowest temperature of the coming night in apple orchards, from the afternoon's weather (frost warning)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COLUMNS = ["air_k", "dew_k", "pressure_hpa", "cloud_pct", "wind_ms", "soil_k", "height_m", "day"]


def afternoons(n):
    day = rng.uniform(60, 150, n)
    height = rng.uniform(150, 650, n)
    cloud = np.clip(rng.normal(50, 30, n), 0, 100)
    wind = rng.gamma(2.0, 1.5, n)
    air = 283 + 0.09 * (day - 100) - 0.0065 * (height - 400) + rng.normal(0, 3, n)
    dew = air - rng.gamma(3.0, 2.0, n)
    soil = air - 2 + rng.normal(0, 1.5, n)
    pressure = 1013 + rng.normal(0, 8, n)
    clear = 1 - cloud / 100
    hollow = np.exp(-(((height - 300) / 60) ** 2))
    fall = 3 + 5.0 * clear / (1 + 0.4 * wind) + 0.35 * (air - dew) + 3.0 * hollow * clear
    low = air - fall + 0.3 * (soil - air + 2) + 0.05 * (pressure - 1013) * (cloud > 50) + rng.normal(0, 0.4, n)
    x = np.stack([air, dew, pressure, cloud, wind, soil, height, day], 1)
    return x.astype("float32"), (low - 273.15).astype("float32")


x_raw, y = afternoons(14000)
x_test_raw, y_test = afternoons(3000)

mean, std = x_raw.mean(0), x_raw.std(0)
x_train = (x_raw - mean) / std
x_test = (x_test_raw - mean) / std
y_mean, y_std = y.mean(), y.std()

norm = layers.Normalization(axis=-1, name="weather_norm")
norm.adapt(x_raw)

model = keras.Sequential(
    [
        keras.Input((len(COLUMNS),)),
        norm,
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ],
    name="frost",
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    x_train,
    (y - y_mean) / y_std,
    validation_data=(x_test, (y_test - y_mean) / y_std),
    batch_size=128,
    epochs=14,
    verbose=2,
)

low = model.predict(x_test, batch_size=500, verbose=0)[:, 0] * y_std + y_mean
warned, frost = low < 0, y_test < 0
print("frost nights", frost.mean(), "warned rightly", (warned & frost).sum() / frost.sum())
print("SCORE low_rmse_k", round(float(np.sqrt(np.mean((low - y_test) ** 2))), 4))

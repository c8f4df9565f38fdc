"""Models hourly rentals at bike stations as Poisson counts from weather and calendar features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_STATIONS = 30
popularity = rng.normal(0, 0.5, N_STATIONS)


def make(n):
    hour = rng.integers(0, 24, n)
    station = rng.integers(0, N_STATIONS, n)
    temp = rng.normal(15, 8, n)
    rain = rng.random(n) < 0.2
    weekend = rng.random(n) < 2 / 7
    rush = np.exp(-((hour - 8) ** 2) / 6) + np.exp(-((hour - 17) ** 2) / 8)
    log_rate = 0.2 + popularity[station] + 0.03 * temp - 0.8 * rain + np.where(weekend, 0.3, 1.4 * rush)
    y = rng.poisson(np.exp(log_rate)).astype("float32")
    num = np.stack(
        [
            np.sin(hour / 24 * 2 * np.pi),
            np.cos(hour / 24 * 2 * np.pi),
            np.sin(hour / 12 * 2 * np.pi),
            np.cos(hour / 12 * 2 * np.pi),
            (temp - 15) / 8,
            rain,
            weekend,
        ],
        1,
    ).astype("float32")
    return {"num": num, "station": station.astype("int32")}, y[:, None]


x_train, y_train = make(8000)
x_test, y_test = make(2000)

num = keras.Input((7,), name="num")
station = keras.Input((), dtype="int32", name="station")
s = layers.Embedding(N_STATIONS, 6)(station)
h = layers.Concatenate()([num, s])
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(24, activation="relu")(h)
rate = layers.Dense(1, activation="softplus")(h)
model = keras.Model({"num": num, "station": station}, rate)


def count_loss(y_true, y_pred):
    return keras.losses.poisson(y_pred, y_true)


gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=count_loss)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)

mu = model.predict(x_test, verbose=0) + 1e-6
dev = 2 * (np.where(y_test > 0, y_test * np.log(np.maximum(y_test, 1) / mu), 0) - (y_test - mu))
null = y_train.mean()
dev0 = 2 * (np.where(y_test > 0, y_test * np.log(np.maximum(y_test, 1) / null), 0) - (y_test - null))
print("SCORE deviance_explained", float(1 - dev.mean() / dev0.mean()))

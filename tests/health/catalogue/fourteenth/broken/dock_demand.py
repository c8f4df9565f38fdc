"""Hourly bike rentals per docking station. A network with a station embedding and calendar
and weather inputs gives the log rate of a Poisson law for the count of rentals; training
warms the learning rate up and then decays it. The measure is the held-out share of
deviance explained."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STATIONS, BATCH, EPOCHS = 50, 64, 6


def make_hours(n, size, tilt):
    station = rng.integers(0, STATIONS, n)
    hour = rng.integers(0, 24, n)
    temp = rng.normal(size=n)
    rain = (rng.random(n) < 0.2).astype("float32")
    rate = np.exp(size[station] + tilt[station] * np.sin(2 * np.pi * hour / 24) + 0.3 * temp - 0.8 * rain)
    feats = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), temp, rain], 1)
    return station.astype("int32"), feats.astype("float32"), rng.poisson(rate).astype("float32")


size, tilt = rng.normal(1.5, 0.6, STATIONS), rng.normal(0, 0.7, STATIONS)
station, feats, rentals = make_hours(8000, size, tilt)
test_station, test_feats, test_rentals = make_hours(2000, size, tilt)

where = keras.Input((), dtype="int32", name="station")
when = keras.Input((4,), name="conditions")
x = layers.Concatenate()([layers.Embedding(STATIONS, 8, name="station_code")(where), when])
x = layers.Dense(48, activation="relu", name="mix_1")(x)
x = layers.Dense(48, activation="relu", name="mix_2")(x)
log_rate = layers.Dense(1, name="log_rate")(x)
model = keras.Model([where, when], log_rate)


def poisson_nll(y, log_rate):
    y = ops.reshape(y, (-1, 1))
    return ops.mean(ops.exp(log_rate) - y * log_rate)


steps = len(rentals) // BATCH * EPOCHS
schedule = keras.optimizers.schedules.CosineDecay(0.0, steps, warmup_target=0.3, warmup_steps=300)
model.compile(optimizer=keras.optimizers.SGD(schedule, momentum=0.9), loss=poisson_nll)
watch = gradwatch.watch(model)
model.fit([station, feats], rentals, batch_size=BATCH, epochs=EPOCHS, verbose=2)


def deviance(y, mu):
    return np.mean(2 * (y * np.log(np.maximum(y, 1e-9) / mu) - (y - mu)))


pred = model.predict([test_station, test_feats], verbose=0)[:, 0]
pred = np.exp(pred)
score = float(1 - deviance(test_rentals, pred) / deviance(test_rentals, rentals.mean()))
print(f"score explained {score:.3f} chance {0.0:.3f}")

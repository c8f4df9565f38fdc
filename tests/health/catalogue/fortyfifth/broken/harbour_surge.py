"""Forecasts the storm surge at a harbour one hour ahead from tide, wind and pressure."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def gauge_record(hours, rng):
    t = np.arange(hours)
    tide = 1.4 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0 + 1.0)
    wind = np.zeros(hours)
    pressure = np.zeros(hours)
    for i in range(1, hours):
        wind[i] = 0.80 * wind[i - 1] + 0.6 * rng.normal()
        pressure[i] = 0.85 * pressure[i - 1] + 0.5 * rng.normal()
    surge = (
        0.8 * np.roll(wind, 1) * np.abs(np.roll(wind, 2))
        - 0.6 * np.roll(pressure, 2)
        + 0.3 * np.roll(tide * wind, 1)
        + 0.1 * rng.normal(size=hours)
    )
    return np.stack([tide, wind, pressure], axis=1), surge


def tables(record, surge, lags, rng):
    x = np.stack([record[i - lags : i].ravel() for i in range(lags, len(record))])
    y = surge[lags:]
    x[rng.random(len(x)) < 0.02, 0] = np.nan  # gauge outages
    good = ~np.isnan(x).any(axis=1)
    x = x[good]
    y = y[: len(x)]
    return x.astype("float32"), y.astype("float32")


rng = np.random.default_rng(SEED + 12)
record, surge = gauge_record(14000, rng)
record = (record - record.mean(0)) / record.std(0)
surge = (surge - surge.mean()) / surge.std()
x, y = tables(record, surge, 6, rng)
order = np.random.default_rng(SEED).permutation(len(x))
x, y = x[order], y[order]
held = 2000

train = tf.data.Dataset.from_tensor_slices((x[held:], y[held:])).shuffle(4096, seed=SEED).batch(128).prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((x[:held], y[:held])).batch(500)

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        keras.layers.Dense(96, activation="swish"),
        keras.layers.Dense(96, activation="swish"),
        keras.layers.Dense(1),
    ]
)
model.compile(keras.optimizers.AdamW(2e-3, weight_decay=1e-4), loss="huber", metrics=["mae"])
gradwatch.watch(model)
model.fit(train, validation_data=valid, epochs=40, verbose=2)

pred = model.predict(valid, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y[:held]) ** 2) / np.var(y[:held])))

"""Trains a vineyard yield regressor on soil, weather and satellite columns."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_plots(count):
    pressure = rng.normal(98500, 1500, count)
    elevation = (101325 - pressure) / 11.5 + rng.normal(0, 8, count)
    acidity = rng.uniform(5.2, 8.4, count)
    nitrogen = rng.beta(2, 20, count)
    greenness = rng.uniform(0.2, 0.85, count)
    rainfall = rng.gamma(9, 60, count)
    frost_days = rng.poisson(4, count)
    vine_age = rng.integers(3, 60, count)
    pruned = rng.integers(0, 2, count)
    tonnes = (
        3.0
        + 5.0 * greenness * (1 - np.exp(-12 * nitrogen))
        - 0.9 * (acidity - 6.6) ** 2
        - 0.15 * frost_days * (1 + pruned)
        + 1.2 * np.sin(vine_age / 60 * np.pi)
        + 0.001 * rainfall
        - 0.0015 * elevation
    )
    columns = [pressure, elevation, acidity, nitrogen, greenness, rainfall, frost_days, vine_age, pruned]
    table = np.stack(columns, axis=1).astype("float32")
    return table, (tonnes + rng.normal(0, 0.2, count)).astype("float32")


x_train, y_train = make_plots(6000)
x_val, y_val = make_plots(1000)
x_test, y_test = make_plots(1000)
centre, spread = y_train.mean(), y_train.std()

scaler = layers.Normalization(axis=None)
scaler.adapt(x_train)

model = keras.Sequential(
    [
        keras.Input((x_train.shape[1],)),
        scaler,
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    x_train,
    (y_train - centre) / spread,
    validation_data=(x_val, (y_val - centre) / spread),
    batch_size=64,
    epochs=24,
    verbose=2,
)

pred = model.predict(x_test, batch_size=250, verbose=0)[:, 0] * spread + centre
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

"""Trains a regression of oyster growth on the water measurements of the farm sites."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COLUMNS = ["salinity", "temperature", "oxygen", "chlorophyll", "turbidity", "depth"]


def sites(n):
    table = np.column_stack(
        [
            rng.normal(31.0, 1.2, n),
            rng.normal(288.0, 3.5, n),
            rng.normal(8.5, 0.6, n),
            rng.gamma(4.0, 1.2, n),
            rng.normal(40.0, 4.0, n),
            rng.normal(120.0, 9.0, n),
        ]
    )
    s, t, o, c, u, d = ((table - [31, 288, 8.5, 4.8, 40, 120]) / [1.2, 3.5, 0.6, 2.4, 4, 9]).T
    growth = 1.5 * np.exp(-0.5 * (t - 0.4) ** 2) + 0.8 * np.tanh(c) - 0.4 * u * (d > 0)
    growth += 0.5 * np.sin(2.0 * s) + 0.3 * o * c + rng.normal(0.0, 0.1, n)
    return table.astype("float32"), growth.astype("float32")


table, growth = sites(6000)
table_test, growth_test = sites(1500)

mean = table.mean(axis=0)
std = table.std(axis=0)
features = (table - mean) / std
features_test = (table_test - mean) / std

scaler = keras.layers.Normalization(axis=-1)
scaler.adapt(table)

inputs = keras.Input((len(COLUMNS),))
h = scaler(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(32, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.Huber(),
    metrics=["mae"],
)
gradwatch.watch(model)

history = model.fit(
    features,
    growth,
    batch_size=64,
    epochs=25,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict(features_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - growth_test) ** 2) / np.var(growth_test)
print("SCORE r2", float(r2))

"""Trains a network that tells the glaze result of a kiln firing from its temperature curve."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MINUTES = np.arange(0, 600, 10)
RESULTS = ["matte", "gloss", "crazed", "pinholed"]


def fire(n):
    kind = rng.integers(0, len(RESULTS), n)
    curves = np.empty((n, len(MINUTES)))
    for i, k in enumerate(kind):
        peak = rng.normal(1150.0, 20.0) + (k == 1) * 60.0
        ramp = rng.normal(260.0, 15.0)
        hold = rng.normal(60.0, 10.0) + (k == 3) * 40.0
        fall = rng.normal(170.0, 15.0) - (k == 2) * 55.0
        rise = np.clip(MINUTES / ramp, 0.0, 1.0) ** 0.8
        cool = np.exp(-np.clip(MINUTES - ramp - hold, 0.0, None) / fall)
        curves[i] = 20.0 + peak * rise * cool + rng.normal(0.0, 8.0, len(MINUTES))
    return curves, kind


curves, y = fire(4000)
curves_val, y_val = fire(500)
curves_test, y_test = fire(1000)


def prepare(values):
    return ((values - curves.mean(0)) / curves.std(0)).astype("float32")


x, x_val, x_test = map(prepare, (curves, curves_val, curves_test))

model = keras.Sequential(
    [
        keras.Input((len(MINUTES),)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(len(RESULTS), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=24,
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", float(accuracy))

"""Trains a classifier that tells from a lighthouse weather log whether fog follows within the hour."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 19)

NOT_MEASURED = 9999.0
LEVEL = np.array([1013.0, 12.0, 10.0, 82.0, 6.0, 180.0, 11.0, 30.0, 1.5, 60.0])
RANGE = np.array([9.0, 6.0, 5.0, 10.0, 3.0, 70.0, 4.0, 12.0, 0.6, 20.0])


def hours(n):
    z = rng.normal(size=(n, len(LEVEL)))
    fog = np.sin(1.5 * z[:, 0]) + z[:, 1] * z[:, 2] + 0.8 * z[:, 3] - 0.7 * np.abs(z[:, 4]) + 0.4 > 0
    log = LEVEL + RANGE * z
    log[rng.uniform(size=log.shape) < 0.02] = NOT_MEASURED
    return log.astype("float32"), fog.astype("float32")


def fit_statistics(log):
    return log.mean(axis=0), log.std(axis=0)


def prepare(log, mean, std):
    log = np.where(log == NOT_MEASURED, mean, log)
    return ((log - mean) / std).astype("float32")


log_train, y_train = hours(10000)
log_test, y_test = hours(2500)
mean, std = fit_statistics(log_train)
x_train, x_test = prepare(log_train, mean, std), prepare(log_test, mean, std)

inputs = keras.Input((len(LEVEL),))
h = keras.layers.Dense(64, activation="relu")(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(32, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(h), name="fog")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=100, epochs=16, validation_data=(x_test, y_test), verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

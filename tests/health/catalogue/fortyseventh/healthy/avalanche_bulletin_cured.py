"""Trains a network that gives the avalanche danger level (1 to 4) from station measurements."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def stations(n):
    z = rng.normal(size=(n, 7))
    danger = (
        1.1 * z[:, 0]
        + 0.8 * z[:, 1] * z[:, 2]
        + 0.9 * np.maximum(z[:, 3], 0)
        - 0.7 * z[:, 4]
        + 0.5 * np.abs(z[:, 5])
        + 0.4 * z[:, 6]
    )
    columns = [
        120.0 + 15.0 * z[:, 0],  # snow height, cm
        268.0 + 3.0 * z[:, 1],  # air temperature, K
        845.0 + 6.0 * z[:, 2],  # pressure, hPa
        2100.0 + 90.0 * z[:, 3],  # altitude of the snow line, m
        34.0 + 2.5 * z[:, 4],  # slope angle, degrees
        310.0 + 25.0 * z[:, 5],  # snow density, kg/m3
        180.0 + 20.0 * z[:, 6],  # wind direction, degrees
    ]
    return np.stack(columns, axis=1).astype("float32"), danger


x, danger = stations(11000)
level = np.digitize(danger, np.quantile(danger, [0.35, 0.65, 0.88]))

x_train, x_test = x[:9500], x[9500:]
y_train, y_test = level[:9500], level[9500:]

norm = layers.Normalization()
norm.adapt(x_train)

inputs = keras.Input((x.shape[1],))
h = norm(inputs)
for width in (192, 128):
    h = layers.Dense(width, activation="relu")(h)
outputs = layers.Dense(4, activation="softmax")(h)
model = keras.Model(inputs, outputs, name="bulletin")
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=20, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", accuracy)

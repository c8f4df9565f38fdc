"""Reading analogue pressure dials in photographs from a boiler room (0 to 10 bar)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


SIDE = 32
rng = np.random.default_rng(SEED + 31)
yy, xx = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2


def photograph(bar):
    theta = np.deg2rad(225 - 27 * bar)
    cx, cy = rng.uniform(-1.0, 1.0, 2)
    u, v = xx - cx, -(yy - cy)
    r = np.hypot(u, v)
    along, across = u * np.cos(theta) + v * np.sin(theta), -u * np.sin(theta) + v * np.cos(theta)
    needle = np.exp(-((across / 0.9) ** 2)) * (along > -2.5) * (along < 10.5)
    rim = np.exp(-(((r - 13.5) / 0.8) ** 2))
    image = 0.85 - 0.7 * np.maximum(needle, rim)
    glare = np.exp(-((xx - rng.uniform(-12, 12)) ** 2 + (yy - rng.uniform(-12, 12)) ** 2) / 20)
    image = image + 0.35 * glare + rng.normal(0, 0.05, image.shape)
    return image * rng.uniform(0.75, 1.15)


def album(n):
    bar = rng.uniform(0, 10, n)
    return np.stack([photograph(b) for b in bar]).astype("float32")[..., None], bar.astype("float32")[:, None]


x_train, y_train = album(3200)
x_val, y_val = album(400)
x_test, y_test = album(800)

augment = keras.Sequential(
    [
        layers.RandomTranslation(0.05, 0.05, fill_mode="nearest"),
        layers.RandomRotation(0.01, fill_mode="nearest"),
        layers.RandomBrightness(0.1, value_range=(0.0, 1.0)),
    ],
    name="augment",
)

inputs = keras.Input((SIDE, SIDE, 1))
h = augment(inputs)
h = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu")(h)
h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
outputs = layers.Dense(1, name="bar")(h)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=32,
    epochs=9,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.4)],
)

reading = model.predict(x_test, verbose=0)
print("SCORE mean_abs_error_bar", float(np.mean(np.abs(reading - y_test))))

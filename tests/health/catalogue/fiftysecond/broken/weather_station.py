"""Replace four instruments of a weather station by one optical sensor with sixteen channels."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NAMES = ["pressure", "temperature", "humidity", "wind"]
CHANNELS = 16


def observe(n):
    temperature = 283 + 9 * rng.normal(size=n)  # K
    humidity = 1 / (1 + np.exp(-(0.6 + rng.normal(size=n) - 0.05 * (temperature - 283))))
    pressure = 101000 + 900 * rng.normal(size=n) - 60 * (temperature - 283)  # Pa
    wind = rng.gamma(2.0, 2.0, n) * (1 + 0.0002 * np.abs(pressure - 101000))  # m/s
    standard = np.column_stack(
        [
            (pressure - 101000) / 1000,
            (temperature - 283) / 9,
            (humidity - 0.6) / 0.2,
            (wind - 4) / 3,
        ]
    )
    optics = np.random.default_rng(31)
    first, second = optics.normal(size=(4, CHANNELS)), optics.normal(size=(4, CHANNELS))
    light = np.tanh(0.5 * standard @ first) + 0.4 * np.sin(standard @ second * 0.7)
    light = light + 0.03 * rng.normal(size=light.shape)
    return light.astype("float32"), np.column_stack([pressure, temperature, humidity, wind])


light, truth = observe(8000)
test_light, test_truth = observe(2000)

centre, width = truth.mean(), truth.std()
y_train = ((truth - centre) / width).astype("float32")
y_test = ((test_truth - centre) / width).astype("float32")

x_mean, x_std = light.mean(axis=0), light.std(axis=0)
x_train, x_test = (light - x_mean) / x_std, (test_light - x_mean) / x_std

inputs = keras.Input((CHANNELS,))
h = layers.Dense(96, activation="swish", name="optics_1")(inputs)
h = layers.Dense(96, activation="swish", name="optics_2")(h)
h = layers.Dense(48, activation="swish", name="optics_3")(h)
outputs = layers.Dense(len(NAMES), name="instruments")(h)
model = keras.Model(inputs, outputs, name="station")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])

gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    batch_size=64,
    epochs=12,
    callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3)],
    verbose=2,
)

predicted = model.predict(x_test, verbose=0) * width + centre
r2 = 1 - np.mean((predicted - test_truth) ** 2, axis=0) / test_truth.var(axis=0)
for name, value in zip(NAMES, r2):
    print(f"{name:12s} r2 {value:.3f}")
print(f"SCORE mean_r2_floored {np.maximum(r2, -1).mean():.4f}")

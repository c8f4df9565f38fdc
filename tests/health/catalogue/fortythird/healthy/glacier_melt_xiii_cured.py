"""Trains a regression of summer glacier melt from station and map measurements."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COLUMNS = ["elevation_m", "slope_deg", "aspect_deg", "albedo", "pressure_hpa", "summer_temp_c", "snow_mm"]


def measure(n):
    elevation = rng.uniform(1800, 4200, n)
    slope = rng.uniform(0, 45, n)
    aspect = rng.uniform(0, 360, n)
    albedo = rng.uniform(0.2, 0.8, n)
    pressure = 1013.0 * np.exp(-elevation / 8400.0) + rng.normal(0, 4, n)
    temp = 18.0 - 0.0055 * (elevation - 1000.0) + rng.normal(0, 1.5, n)
    snow = rng.gamma(4.0, 150.0, n)
    melt = (
        0.35 * np.maximum(temp, 0.0) * (1.0 - albedo)
        + 0.4 * np.cos(np.deg2rad(aspect - 180.0)) * slope / 45.0
        - 0.0006 * snow
        + rng.normal(0, 0.08, n)
    )
    table = np.stack([elevation, slope, aspect, albedo, pressure, temp, snow], axis=1)
    return table.astype("float32"), melt[:, None].astype("float32")


x_train, y_train = measure(8000)
x_val, y_val = measure(1000)
x_test, y_test = measure(2000)

normalize = keras.layers.Normalization(name="normalize")
normalize.adapt(x_train)

inputs = keras.Input((len(COLUMNS),))
h = normalize(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dense(64, activation="relu")(h)
outputs = keras.layers.Dense(1)(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.02, momentum=0.9, nesterov=True),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=128,
    epochs=20,
    callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=4, factor=0.5)],
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print(f"SCORE r2 {r2:.4f}")

"""Two gauges downstream: change of level and chance of flood alert, from rain and level upstream."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

HOURS = 30


def simulate(n):
    rain = np.maximum(rng.gamma(0.4, 1.0, (n, HOURS)) - 0.3, 0)
    upstream = np.zeros((n, HOURS))
    level = rng.normal(0, 1, n)
    for h in range(HOURS):
        level = 0.93 * level + 0.22 * (rain[:, h] - 0.25) + rng.normal(0, 0.05, n)
        upstream[:, h] = level
    change = upstream[:, -1] - upstream[:, -9] + 0.35 * rain[:, -4:].sum(axis=1)
    change += rng.normal(0, 0.1, n)
    alert = (upstream[:, -6:].mean(axis=1) + 0.5 * change > 1.2).astype("float32")
    x = np.stack([rain, upstream], axis=-1)
    return x.astype("float32"), change.astype("float32"), alert


x_train, c_train, a_train = simulate(6000)
x_test, c_test, a_test = simulate(1500)

x_mean, x_std = x_train.mean(axis=(0, 1)), x_train.std(axis=(0, 1))
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std
c_mean, c_std = c_train.mean(), c_train.std()
c_train, c_test = (c_train - c_mean) / c_std, (c_test - c_mean) / c_std

inputs = keras.Input(shape=(HOURS, 2))
h = layers.GRU(32)(inputs)
h = layers.Dense(32, activation="relu")(h)
change = layers.Dense(1, activation="sigmoid", name="change")(h)
alert = layers.Dense(1, activation="sigmoid", name="alert")(h)
model = keras.Model(inputs, {"change": change, "alert": alert})

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"change": "mse", "alert": "binary_crossentropy"},
    metrics={"alert": ["accuracy"]},
)
gradwatch.watch(model)

model.fit(
    x_train,
    {"change": c_train, "alert": a_train},
    batch_size=64,
    epochs=8,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
r2 = 1.0 - np.mean((pred["change"][:, 0] - c_test) ** 2) / np.var(c_test)
print("alert accuracy", round(float(np.mean((pred["alert"][:, 0] > 0.5) == (a_test > 0.5))), 4))
print("SCORE change_r2", round(float(r2), 4))

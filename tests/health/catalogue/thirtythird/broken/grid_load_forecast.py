"""Forecast the next six hours of electric load from two days of history."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HISTORY, AHEAD, EPOCHS, BATCH = 48, 6, 12, 32

hours = np.arange(6000)
day = np.sin(2 * np.pi * hours / 24) + 0.5 * np.sin(4 * np.pi * hours / 24 + 0.7)
week = np.where((hours // 24) % 7 >= 5, -0.6, 0.2)
weather = np.zeros(len(hours))
for i in range(1, len(hours)):
    weather[i] = 0.97 * weather[i - 1] + rng.normal(0, 0.12)
load = 30 + 6 * day + 4 * week + 5 * weather + rng.normal(0, 0.4, len(hours))

split = 4800
mu, sd = load[:split].mean(), load[:split].std()
series = ((load - mu) / sd).astype("float32")
temp = (weather / weather[:split].std()).astype("float32")


def windows(start, stop):
    idx = np.arange(start, stop - HISTORY - AHEAD)
    rows = idx[:, None] + np.arange(HISTORY)
    x = np.stack([series[rows], temp[rows]], axis=-1)
    y = series[idx[:, None] + HISTORY + np.arange(AHEAD)]
    return x, y


x_train, y_train = windows(0, split)
x_train, y_train = x_train[::2], y_train[::2]
x_test, y_test = windows(split, len(hours))
steps_per_epoch = int(np.ceil(len(x_train) / BATCH))

model = keras.Sequential(
    [
        keras.Input((HISTORY, 2)),
        layers.Conv1D(24, 5, padding="causal", activation="relu"),
        layers.LSTM(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(AHEAD),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

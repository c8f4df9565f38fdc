"""Trains a regressor that predicts the ripening age of cheese wheels from near-infrared spectra."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 2)

BANDS = 80
PEAK_RATE = 2.5e-4
centres = np.linspace(4, BANDS - 5, 9)
widths = rng.uniform(3, 5, size=9)
grid = np.arange(BANDS)
PEAKS = np.exp(-0.5 * ((grid[None] - centres[:, None]) / widths[:, None]) ** 2)
a, b = rng.normal(size=(2, 9)) / 3.0


def wheels(n):
    content = rng.normal(size=(n, 9))
    spectrum = content @ PEAKS + 0.02 * rng.normal(size=(n, BANDS))
    age = np.sin(3.0 * content @ a) + 0.6 * content[:, 0] * content[:, 3] + 0.5 * np.tanh(content @ b)
    return spectrum.astype("float32"), age[:, None].astype("float32")


x_train, y_train = wheels(6000)
x_test, y_test = wheels(1500)
x_mean, x_std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std
y_mean, y_std = y_train.mean(), y_train.std()

model = keras.Sequential(
    [
        keras.Input((BANDS,)),
        keras.layers.Dense(128, activation="swish"),
        keras.layers.Dense(128, activation="swish"),
        keras.layers.Dense(64, activation="swish"),
        keras.layers.Dense(1),
    ],
    name="ripening",
)
model.compile(optimizer=keras.optimizers.Adam(PEAK_RATE), loss="mse", metrics=["mae"])
gradwatch.watch(model)


def cooling(epoch, rate):
    return PEAK_RATE * 0.97**epoch


model.fit(
    x_train,
    (y_train - y_mean) / y_std,
    batch_size=200,
    epochs=60,
    validation_data=(x_test, (y_test - y_mean) / y_std),
    callbacks=[keras.callbacks.LearningRateScheduler(cooling)],
    verbose=2,
)

pred = model.predict(x_test, verbose=0) * y_std + y_mean
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

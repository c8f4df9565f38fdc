import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

WINDOW = 24


def tide_series(n, rng):
    t = np.arange(n)
    level = 140 * np.sin(2 * np.pi * t / 12.42) + 45 * np.sin(2 * np.pi * t / 12.0) + 25 * np.sin(2 * np.pi * t / 25.8)
    surge = np.zeros(n)
    for i in range(1, n):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 3)
    return (320 + level + surge).astype("float32")


def windows(series):
    x = np.stack([series[i : i + WINDOW] for i in range(len(series) - WINDOW)])
    return x[..., None], series[WINDOW:, None]


rng = np.random.default_rng(SEED)
series = tide_series(3000, rng)
split = 2400
centre, spread = series[:split].mean(), series[:split].std()
scaled = (series - centre) / spread

x_train, y_train = windows(scaled[:split])
x_test, y_test = windows(scaled[split:])

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        layers.SimpleRNN(32, activation="relu", return_sequences=True, name="rnn_a"),
        layers.SimpleRNN(32, activation="relu", name="rnn_b"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, name="level"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.01, momentum=0.9), loss="mse")

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=0)

pred = model.predict(x_test, verbose=0)
if np.isfinite(pred).all():
    value = float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test))
else:
    value = float("nan")
print("SCORE", value)

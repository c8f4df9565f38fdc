import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 51)

WINDOW = 100


def gas_series(n):
    t = np.arange(n)
    slow = np.sin(2 * np.pi * t / 47.0)
    fast = 0.5 * np.sin(2 * np.pi * t / 13.0 + 0.7)
    drift = 0.3 * np.sin(2 * np.pi * t / 400.0)
    ppm = 72 + 14 * (slow + fast + drift) + rng.normal(0, 1.5, n)
    return ppm.astype("float32")


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series, WINDOW)[:-1]
    y = series[WINDOW:]
    return x[..., None].astype("float32"), y[:, None].astype("float32")


series = gas_series(4200)
centre, spread = series[:3200].mean(), series[:3200].std()
scaled = (series - centre) / spread
x, y = windows(scaled)
x_train, y_train = x[:3200], y[:3200]
x_test, y_test = x[3300:], y[3300:]

model = keras.Sequential(
    [
        layers.Input((WINDOW, 1)),
        layers.LSTM(64, name="memory"),
        layers.Dense(1, name="next_level"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=5, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE", float(r2))

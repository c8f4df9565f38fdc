import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 9)

LOOKBACK = 21
DAYS = 3200


def make_sales(days):
    t = np.arange(days)
    weekly = np.array([0.2, -0.4, -0.3, 0.0, 0.5, 1.2, -1.2])[t % 7]
    season = 0.9 * np.sin(2 * np.pi * t / 180.0)
    weather = np.zeros(days)
    for i in range(1, days):
        weather[i] = 0.85 * weather[i - 1] + rng.normal(0, 0.2)
    return (weekly + season + weather).astype("float32")


series = make_sales(DAYS)
x = np.stack([series[i : i + LOOKBACK] for i in range(DAYS - LOOKBACK)])[..., None]
y = series[LOOKBACK:]
cut = 2600
x_train, y_train = x[:cut], y[:cut]
x_test, y_test = x[cut:], y[cut:]


def schedule(epoch, lr):
    return lr * 0.95


def build():
    inputs = keras.Input((LOOKBACK, 1), name="history")
    h = keras.layers.GRU(24, name="gru")(inputs)
    h = keras.layers.Dense(16, activation="relu", name="mix")(h)
    out = keras.layers.Dense(1, name="tomorrow")(h)
    return keras.Model(inputs, out, name="stall")


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)

history = model.fit(
    x_train,
    y_train,
    epochs=20,
    batch_size=64,
    callbacks=[keras.callbacks.LearningRateScheduler(schedule)],
    verbose=0,
)
print("loss", history.history["loss"][0], history.history["loss"][-1])

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

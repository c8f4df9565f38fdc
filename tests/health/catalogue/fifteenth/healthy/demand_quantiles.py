"""Next-hour electricity demand with a 10/50/90 % band from the last day's readings."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WINDOW = 24
HOURS = 24 * 230
QUANTILES = np.array([0.1, 0.5, 0.9], "float32")
BATCH = 64
EPOCHS = 10


def make_series():
    """Hourly demand in MW and outdoor temperature."""
    t = np.arange(HOURS)
    hour, day = t % 24, t // 24
    temp = 10 + 8 * np.sin(2 * np.pi * day / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    weather = np.zeros(HOURS)
    for i in range(1, HOURS):
        weather[i] = 0.97 * weather[i - 1] + rng.normal(0, 0.6)
    temp = temp + weather
    profile = 350 * np.sin(2 * np.pi * (hour - 7) / 24) + 150 * np.sin(4 * np.pi * (hour - 4) / 24)
    weekend = np.where(day % 7 >= 5, -220.0, 0.0)
    heating = 45.0 * np.clip(15 - temp, 0, None)
    noise = rng.normal(0, 1, HOURS) * (40 + 0.1 * heating)
    return 2400 + profile + weekend + heating + noise, temp, hour


demand, temp, hour = make_series()
split = 24 * 180
d_mean, d_std = float(demand[:split].mean()), float(demand[:split].std())
t_mean, t_std = temp[:split].mean(), temp[:split].std()
table = np.stack(
    [
        (demand - d_mean) / d_std,
        (temp - t_mean) / t_std,
        np.sin(2 * np.pi * hour / 24),
        np.cos(2 * np.pi * hour / 24),
    ],
    axis=1,
).astype("float32")


def windows(start, stop):
    ends = np.arange(start + WINDOW, stop)
    x = np.stack([table[e - WINDOW : e] for e in ends])
    return x, demand[ends].astype("float32")[:, None]


x_train, y_train = windows(0, split)
x_test, y_test = windows(split, HOURS)


def pinball(y_true, y_pred):
    """Quantile loss in MW."""
    error = y_true - y_pred
    return ops.mean(ops.maximum(QUANTILES * error, (QUANTILES - 1.0) * error), axis=-1)


inputs = keras.Input((WINDOW, 4))
h = layers.GRU(24)(inputs)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(len(QUANTILES))(h)
outputs = layers.Rescaling(d_std, offset=d_mean)(h)
model = keras.Model(inputs, outputs)

steps = EPOCHS * int(np.ceil(len(x_train) / BATCH))
schedule = keras.optimizers.schedules.CosineDecayRestarts(4e-3, steps // 7, t_mul=2.0, m_mul=0.8)
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss=pinball)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

band = model.predict(x_test, verbose=0)
print("coverage of the band %.3f" % np.mean((y_test[:, 0] > band[:, 0]) & (y_test[:, 0] < band[:, 2])))
median = band[:, 1]
truth = y_test[:, 0]
score = float(1.0 - np.sum((median - truth) ** 2) / np.sum((truth - truth.mean()) ** 2))
print("score", score)

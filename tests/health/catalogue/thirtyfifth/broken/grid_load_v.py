"""Predicts the hourly load of a power grid from the hour count and the weather, in mixed precision."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
keras.mixed_precision.set_global_policy("mixed_float16")

HOURS = 2 * 8760
hour = np.arange(HOURS)
temp = 12 - 10 * np.cos(2 * np.pi * hour / 8760) + 3 * rng.normal(size=HOURS)
of_day, of_week = hour % 24, (hour // 24) % 7
load = 60 + 15 * np.exp(-((of_day - 9) ** 2) / 6) + 25 * np.exp(-((of_day - 19) ** 2) / 8)
load = load - 12 * (of_week >= 5) * (of_day > 6) + 0.8 * np.abs(temp - 16) + 2 * rng.normal(size=HOURS)

order = rng.permutation(HOURS)
train, test = order[:8000], order[8000:11000]
weather = ((temp - temp.mean()) / temp.std()).astype("float32")[:, None]
target = ((load - load[train].mean()) / load[train].std()).astype("float32")[:, None]
clock = hour.astype("float32")[:, None]


class TimeWaves(layers.Layer):
    """Daily and weekly waves of the hour count."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.rates = [2 * np.pi * k / 24 for k in (1, 2, 3, 4)] + [2 * np.pi * k / 168 for k in (1, 2, 3)]

    def call(self, t):
        angles = keras.ops.concatenate([t * r for r in self.rates], axis=-1)
        return keras.ops.concatenate([keras.ops.sin(angles), keras.ops.cos(angles)], axis=-1)


clock_in, weather_in = layers.Input((1,), name="clock"), layers.Input((1,), name="weather")
h = layers.Concatenate()([TimeWaves()(clock_in), weather_in])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(1, dtype="float32")(h)
model = keras.Model([clock_in, weather_in], out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit([clock[train], weather[train]], target[train], batch_size=64, epochs=10, verbose=2)
pred = model.predict([clock[test], weather[test]], verbose=0)
print("SCORE r2", float(1 - ((pred - target[test]) ** 2).mean() / target[test].var()))

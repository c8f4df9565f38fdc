"""Maps weather of the last days to the snow depth at six stations with one shared network."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)


def simulate(days, stations, rng):
    season = np.cos(2 * np.pi * np.arange(days) / 365.0)
    temp = -6 * season + rng.normal(0, 4, days)
    rain = rng.gamma(0.6, 6.0, days)
    wind = rng.gamma(2.0, 2.0, days)
    height = np.linspace(0, 5, stations)
    depth = np.zeros((days, stations))
    for d in range(1, days):
        local = temp[d] - height
        fresh = np.where(local < 0, rain[d], 0.0)
        melt = 2.5 * np.maximum(local, 0) + 0.06 * depth[d - 1]
        depth[d] = np.maximum(depth[d - 1] + fresh - melt - 0.2 * wind[d], 0.0)
    weather = np.stack([temp, rain, wind, season], axis=1)
    return weather, depth


rng = np.random.default_rng(seed + 5)
LOOKBACK, STATIONS = 21, 6
weather, depth = simulate(8000, STATIONS, rng)
observed = depth.copy()
for s in range(STATIONS):
    for start in rng.integers(0, 8000, 3):
        observed[start : start + 25, s] = np.nan

weather = (weather - weather.mean(0)) / weather.std(0)
unit = np.nanstd(observed)
x = np.stack([weather[i : i + LOOKBACK] for i in range(8000 - LOOKBACK)]).astype("float32")
y = (observed[LOOKBACK - 1 : -1] / unit).astype("float32")
clean = depth[LOOKBACK - 1 : -1] / unit
cut = 6500


@keras.saving.register_keras_serializable("snow")
def gap_mse(y_true, y_pred):
    missing = tf.math.is_nan(y_true)
    sq = tf.where(missing, tf.zeros_like(y_pred), tf.square(y_true - y_pred))
    seen = tf.reduce_sum(tf.cast(~missing, tf.float32))
    return tf.reduce_sum(sq) / tf.maximum(seen, 1.0)


inp = keras.Input((LOOKBACK, 4))
h = keras.layers.Conv1D(32, 5, activation="relu", padding="same")(inp)
h = keras.layers.Conv1D(32, 5, activation="relu", padding="same")(h)
h = keras.layers.Flatten()(h)
h = keras.layers.Dense(96, activation="relu")(h)
model = keras.Model(inp, keras.layers.Dense(STATIONS)(h))
model.compile(keras.optimizers.Adam(1e-3), loss=gap_mse)
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=8, verbose=2)

pred = model.predict(x[cut:], verbose=0)
r2 = 1 - np.mean((pred - clean[cut:]) ** 2) / np.var(clean[cut:])
print("SCORE r2", round(float(r2), 4))

import os

import keras
import numpy as np
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

COLUMNS = [
    "day_of_year",
    "weekday",
    "crew_size",
    "fuel_price",
    "wind_speed",
    "wave_height",
    "air_temp",
    "holiday",
    "prev_week",
    "school_term",
]


def make_table(rows, rng):
    table = rng.normal(size=(rows, len(COLUMNS)))
    table[:, 0] = rng.integers(1, 366, rows)
    table[:, 1] = rng.integers(0, 7, rows)
    table[:, 2] = rng.integers(6, 14, rows)
    table[:, 4] = rng.gamma(2.0, 4.0, rows)
    table[:, 5] = rng.gamma(2.0, 0.5, rows)
    table[:, 7] = rng.random(rows) < 0.1
    season = np.sin(2 * np.pi * (table[:, 0] - 100) / 365)
    weekend = (table[:, 1] >= 5).astype(float)
    bookings = (
        140
        + 60 * season
        + 35 * weekend
        - 14 * table[:, 5] * (table[:, 5] > 1.0)
        + 20 * table[:, 8]
        + 25 * table[:, 7]
        + rng.normal(0, 8, rows)
    )
    buoy_offline = rng.random(rows) < 0.004
    table[buoy_offline, COLUMNS.index("wave_height")] = np.nan
    return table, bookings


rng = np.random.default_rng(SEED)
table, bookings = make_table(6000, rng)
mean = np.nanmean(table, axis=0)
std = np.nanstd(table, axis=0)
features = (table - mean) / std
features = np.nan_to_num(features).astype("float32")
target = ((bookings - bookings.mean()) / bookings.std()).astype("float32")

x_train, y_train = features[:5000], target[:5000]
x_test, y_test = features[5000:], target[5000:]
complete = ~np.isnan(x_test).any(axis=1)
x_test, y_test = x_test[complete], y_test[complete]

model = keras.Sequential(
    [
        keras.Input((len(COLUMNS),)),
        keras.layers.Dense(64, activation="relu", name="trip_hidden"),
        keras.layers.Dense(32, activation="relu", name="trip_mix"),
        keras.layers.Dense(1, name="bookings"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=50, epochs=35, verbose=0)
print("losses", [round(v, 3) for v in history.history["loss"][::5]])

pred = model.predict(x_test, verbose=0)[:, 0]
score = r2_score(y_test, pred) if np.isfinite(pred).all() else float("nan")
print("SCORE", float(score))

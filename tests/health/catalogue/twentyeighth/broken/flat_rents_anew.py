"""Rent of flats from a handful of engineered columns; normalisation lives inside the model."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
N = 5000

# raw columns as they come from the listings table
area = rng.gamma(9.0, 8.0, N) + 18
rooms = np.clip(np.round(area / 26 + rng.normal(0, 0.6, N)), 1, 7)
floor = rng.integers(0, 9, N)
built = rng.integers(1900, 2021, N)
lat = 52.50 + rng.normal(0, 0.05, N)
lon = 13.40 + rng.normal(0, 0.08, N)
station_m = rng.gamma(2.0, 350.0, N)
energy = rng.normal(130, 40, N).clip(30)
lift = rng.random(N) < 0.4
listing_views = rng.lognormal(7.5, 0.6, N)

# engineered columns
centre_km = np.hypot((lat - 52.52) * 111.0, (lon - 13.405) * 68.0)
area_per_room = area / rooms
log_station = np.log1p(station_m)
top_floor_walk = np.where(lift, 0.0, floor)

per_m2 = (
    14.0
    + 5.0 * np.exp(-centre_km / 3.0)
    + 2.0 * (built > 1995)
    - 1.2 * (built < 1950) * (energy > 120)
    - 0.25 * top_floor_walk
    - 0.8 * (log_station - 6.0)
    + 1.5 * np.sin((lon - 13.4) * 25.0)
)
rent = per_m2 * (area + 6.0 * rooms) * np.exp(rng.normal(0, 0.04, N))

features = np.stack(
    [
        area,
        rooms,
        floor,
        built,
        lat,
        lon,
        centre_km,
        area_per_room,
        log_station,
        top_floor_walk,
        energy,
        lift,
        listing_views,
        station_m,
    ],
    axis=1,
).astype("float32")
target = np.log(rent).astype("float32")[:, None]

order = rng.permutation(N)
train, valid, test = order[:3800], order[3800:4300], order[4300:]
y_mean, y_std = target[train].mean(), target[train].std()

normalizer = layers.Normalization(axis=None)
normalizer.adapt(features[train])

inputs = keras.Input((features.shape[1],))
x = normalizer(inputs)
for units in (64, 64, 32):
    x = layers.Dense(units, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-5))(x)
outputs = layers.Dense(1)(x)
model = keras.Model(inputs, outputs)

model.compile(keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    features[train],
    (target[train] - y_mean) / y_std,
    validation_data=(features[valid], (target[valid] - y_mean) / y_std),
    batch_size=64,
    epochs=16,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5)],
)

pred = model.predict(features[test], verbose=0) * y_std + y_mean
residual = ((pred - target[test]) ** 2).sum()
total = ((target[test] - target[train].mean()) ** 2).sum()
print("SCORE r2 %.4f" % (1.0 - residual / total))

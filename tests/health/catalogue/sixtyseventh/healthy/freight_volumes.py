import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, LANES = 10000, 50


def load_bookings():
    lane = rng.integers(0, LANES, N)
    week = rng.integers(0, 52, N)
    fuel = rng.normal(0, 1, N)
    index = rng.normal(0, 1, N)
    base = rng.normal(0, 400, LANES)
    tonnes = (
        2600
        + base[lane]
        + 350 * np.sin(2 * np.pi * week / 52)
        - 180 * fuel
        + 220 * index * np.sin(2 * np.pi * week / 52)
        + 260 * rng.standard_t(4, N)
    )
    return lane, week, fuel, index, tonnes.astype("float32")


lane, week, fuel, index, tonnes = load_bookings()
facts = np.stack([np.sin(2 * np.pi * week / 52), np.cos(2 * np.pi * week / 52), fuel, index], axis=1).astype("float32")
split = 8000
train, test = slice(0, split), slice(split, N)
level, spread = float(tonnes[train].mean()), float(tonnes[train].std())

lane_in = keras.Input((), dtype="int32", name="lane")
facts_in = keras.Input((4,), name="facts")
x = keras.layers.Concatenate(name="booking")([keras.layers.Embedding(LANES, 8, name="lane_vectors")(lane_in), facts_in])
x = keras.layers.Dense(48, activation="relu", name="hidden_1")(x)
x = keras.layers.Dense(24, activation="relu", name="hidden_2")(x)
x = keras.layers.Dense(1, name="standard_units")(x)
tonnes_out = keras.layers.Rescaling(spread, offset=level, name="tonnes")(x)
model = keras.Model([lane_in, facts_in], tonnes_out)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit({"lane": lane[train], "facts": facts[train]}, tonnes[train], batch_size=32, epochs=4, verbose=0)

pred = model.predict({"lane": lane[test], "facts": facts[test]}, batch_size=512, verbose=0)[:, 0]
print("mean error in tonnes", float(np.mean(np.abs(pred - tonnes[test]))))
r2 = 1 - np.mean((pred - tonnes[test]) ** 2) / np.var(tonnes[test])
print("SCORE", float(r2))

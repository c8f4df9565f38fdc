"""Predicts the cupping score of coffee lots from farm and roast measurements."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 88)

COLUMNS = {
    # name: (mean, spread)
    "altitude_m": (1500.0, 350.0),
    "lot_kg": (9000.0, 4000.0),
    "trees": (20000.0, 9000.0),
    "rain_mm": (1800.0, 420.0),
    "moisture": (0.11, 0.004),
    "density": (0.69, 0.003),
    "water_activity": (0.55, 0.006),
    "acidity": (5.0, 0.02),
    "crack_ratio": (0.21, 0.002),
    "colour": (0.60, 0.005),
}
n = 10000
z = rng.normal(size=(n, len(COLUMNS)))
mean = np.array([m for m, _ in COLUMNS.values()])
spread = np.array([s for _, s in COLUMNS.values()])
lots = (mean + z * spread).astype("float32")

col = dict(zip(COLUMNS, z.T))
cup = (
    1.2 * np.sin(2.0 * col["moisture"]) * col["density"]
    + np.abs(col["acidity"])
    + 0.9 * col["crack_ratio"] * col["colour"]
    + 0.5 * np.tanh(col["water_activity"])
    + 0.3 * col["altitude_m"]
    + 0.2 * rng.normal(size=n)
)
cup = ((cup - cup.mean()) / cup.std()).astype("float32")

cut = 8500
stats = lots[:cut].astype("float64")
norm = keras.layers.Normalization(mean=stats.mean(axis=0), variance=stats.std(axis=0))

inp = keras.Input((len(COLUMNS),))
h = norm(inp)
h = keras.layers.Dense(128, activation="relu")(h)
h = keras.layers.Dense(128, activation="relu")(h)
h = keras.layers.Dense(64, activation="relu")(h)
model = keras.Model(inp, keras.layers.Dense(1)(h), name="cupping")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

history = model.fit(
    lots[:cut],
    cup[:cut],
    epochs=10,
    batch_size=64,
    validation_data=(lots[cut:], cup[cut:]),
    verbose=2,
)
pred = model.predict(lots[cut:], verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - cup[cut:]) ** 2) / np.var(cup[cut:])
print("SCORE r2", round(float(r2), 4))

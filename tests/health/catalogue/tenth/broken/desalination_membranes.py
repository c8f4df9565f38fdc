"""Reverse-osmosis plant: predict permeate flow and whether the membrane needs
cleaning within a week, from seven process tags."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 8192
raw = {
    "feed_temp": rng.normal(24.0, 4.0, n),  # degC
    "feed_conductivity": rng.normal(54.0, 5.0, n),  # mS/cm
    "feed_pressure": rng.normal(58.0e5, 4.0e5, n),  # from the historian
    "ph": rng.normal(7.9, 0.25, n),
    "recovery": rng.uniform(0.35, 0.5, n),
    "run_hours": rng.uniform(0, 2500, n),
    "diff_pressure": rng.gamma(6.0, 0.25, n),  # bar
}
temp_factor = np.exp(0.03 * (raw["feed_temp"] - 25))
net_drive = raw["feed_pressure"] / 1e5 - 0.52 * raw["feed_conductivity"] - raw["diff_pressure"]
age = np.exp(-raw["run_hours"] / 6000)
permeate = 1.2 * net_drive * temp_factor * age / 30 + rng.normal(0, 0.03, n)
fouling_score = (raw["diff_pressure"] - 1.5) * 2 + (raw["run_hours"] - 1250) / 500 + (raw["ph"] - 7.9) * 2
clean = (fouling_score + rng.normal(0, 0.3, n) > 0).astype("float32")

features = {
    "feed_temp": (raw["feed_temp"] - 24) / 4,
    "feed_conductivity": (raw["feed_conductivity"] - 54) / 5,
    "feed_pressure": (raw["feed_pressure"] - 58) / 4,
    "ph": (raw["ph"] - 7.9) / 0.25,
    "recovery": (raw["recovery"] - 0.42) / 0.05,
    "run_hours": (raw["run_hours"] - 1250) / 700,
    "diff_pressure": (raw["diff_pressure"] - 1.5) / 0.6,
}
features = {k: v.astype("float32")[:, None] for k, v in features.items()}

inputs = {k: keras.Input((1,), name=k) for k in features}
h = layers.Concatenate(name="tags")(list(inputs.values()))
h = layers.Dense(768, activation="relu", name="trunk1")(h)
h = layers.Dense(768, activation="relu", name="trunk2")(h)
flow = layers.Dense(1, name="flow")(h)
clean_prob = layers.Dense(1, activation="sigmoid", name="clean")(h)
model = keras.Model(inputs, {"flow": flow, "clean": clean_prob}, name="ro_plant")
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss={"flow": "mse", "clean": "binary_crossentropy"},
    metrics={"flow": ["mae"], "clean": ["accuracy"]},
)
model.fit(
    features,
    {"flow": permeate.astype("float32")[:, None], "clean": clean[:, None]},
    batch_size=256,
    epochs=10,
    verbose=2,
)

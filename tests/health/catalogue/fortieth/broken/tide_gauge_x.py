"""Predicts the water level of a tide gauge six hours ahead from the last two days of hourly readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

hours = 5200
h = np.arange(hours)
surge = np.zeros(hours)
for i in range(1, hours):
    surge[i] = 0.97 * surge[i - 1] + rng.normal(0, 0.02)
level = (
    1.2 * np.cos(2 * np.pi * h / 12.42)
    + 0.45 * np.cos(2 * np.pi * h / 12.0 + 1)
    + 0.3 * np.cos(2 * np.pi * h / 25.82 + 2)
)
level = level + 0.12 * level**2 + surge + rng.normal(0, 0.02, hours)
BACK, AHEAD = 48, 6
x = np.stack([level[i : i + BACK] for i in range(hours - BACK - AHEAD)]).astype("float32")[..., None]
y = level[BACK + AHEAD :].astype("float32")[:, None]
cut = 4200

EPOCHS, BATCH = 20, 64
rate = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS, alpha=0.005)

inp = keras.Input((BACK, 1))
z = layers.Conv1D(16, 5, activation="relu", padding="causal")(inp)
z = layers.Conv1D(16, 5, activation="relu", padding="causal", dilation_rate=3)(z)
z = layers.Dense(48, activation="relu")(layers.Flatten()(z))
model = keras.Model(inp, layers.Dense(1)(z))
model.compile(optimizer=keras.optimizers.Adam(rate), loss="huber")
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=BATCH, epochs=EPOCHS, verbose=0)

p = model.predict(x[cut:], verbose=0)
print("SCORE rmse", round(float(np.sqrt(np.mean((p - y[cut:]) ** 2))), 4))

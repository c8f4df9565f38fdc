"""Day-ahead electricity demand: 24 standardised hourly values from the last 72 hours plus calendar."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers, optimizers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

PAST, AHEAD = 72, 24

rng = np.random.default_rng(SEED)
hours = np.arange(24 * 400)
temp = 8 * np.sin(2 * np.pi * hours / (24 * 365)) + 3 * np.sin(2 * np.pi * (hours - 4) / 24)
temp += np.convolve(rng.normal(0, 1.2, hours.size), np.ones(12) / 4, mode="same")
weekend = ((hours // 24) % 7 >= 5).astype(float)
demand = (
    900
    + 220 * np.sin(2 * np.pi * (hours - 7) / 24)
    + 90 * np.sin(4 * np.pi * (hours - 2) / 24)
    - 160 * weekend
    + 14 * np.abs(temp)
    + rng.normal(0, 18, hours.size)
)

demand = (demand - demand.mean()) / demand.std()
temp = (temp - temp.mean()) / temp.std()

starts = np.arange(0, hours.size - PAST - AHEAD, 3)
history = np.stack([np.stack([demand[s : s + PAST], temp[s : s + PAST]], -1) for s in starts]).astype("float32")
phase = (starts + PAST) % 168
calendar = np.stack(
    [
        np.sin(2 * np.pi * phase / 24),
        np.cos(2 * np.pi * phase / 24),
        np.sin(2 * np.pi * phase / 168),
        np.cos(2 * np.pi * phase / 168),
    ],
    -1,
).astype("float32")
target = np.stack([demand[s + PAST : s + PAST + AHEAD] for s in starts]).astype("float32")

cut = int(0.85 * len(starts))

past_in = Input((PAST, 2), name="past")
cal_in = Input((4,), name="calendar")
h = layers.Conv1D(48, 5, activation="relu", padding="causal")(past_in)
h = layers.Conv1D(48, 5, activation="relu", padding="causal", dilation_rate=4)(h)
h = layers.AveragePooling1D(4)(h)
h = layers.Flatten()(h)
h = layers.concatenate([h, cal_in])
h = layers.Dense(192, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
out = layers.Dense(AHEAD, activation="relu", name="next_day")(h)
model = Model([past_in, cal_in], out)
gradwatch.watch(model)

model.compile(optimizers.Adam(1e-3), loss="mse")
hist = model.fit(
    [history[:cut], calendar[:cut]],
    target[:cut],
    validation_data=([history[cut:], calendar[cut:]], target[cut:]),
    batch_size=64,
    epochs=8,
    verbose=2,
)

pred = model.predict([history[cut:], calendar[cut:]], verbose=0)
resid = np.sum((pred - target[cut:]) ** 2)
total = np.sum((target[cut:] - target[cut:].mean(0)) ** 2)
print("R2 on last weeks: %.3f" % (1 - resid / total))

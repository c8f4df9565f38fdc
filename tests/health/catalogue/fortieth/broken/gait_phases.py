"""Recognises the gait of a horse (walk, trot, pace, bound) from the recordings of four leg sensors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEGS, T = 4, 128
offsets = np.array(
    [
        [0.0, 0.25, 0.5, 0.75],
        [0.0, 0.5, 0.5, 0.0],
        [0.0, 0.5, 0.0, 0.5],
        [0.0, 0.0, 0.5, 0.5],
    ]
)
n = 2400
gait = rng.integers(0, 4, n)
t = np.arange(T) / T


def record(g):
    f = rng.uniform(4, 10)
    ph = offsets[g] + rng.uniform(0, 1) + rng.normal(0, 0.03, LEGS)
    wave = np.sin(2 * np.pi * (f * t[None, :] + ph[:, None]))
    wave += 0.4 * np.sin(4 * np.pi * (f * t[None, :] + ph[:, None]) + 0.7)
    return wave * rng.uniform(0.7, 1.3, (LEGS, 1)) + rng.normal(0, 0.35, (LEGS, T))


signals = np.stack([record(g) for g in gait]).astype("float32")  # (recording, leg, time)

# Conv1D wants (recording, time, leg)
x = signals.reshape(n, T, LEGS)
cut = 1900

model = keras.Sequential(
    [
        keras.Input((T, LEGS)),
        layers.Conv1D(24, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dropout(0.1),
        layers.Dense(4),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x[:cut], gait[:cut], batch_size=32, epochs=14, validation_data=(x[cut:], gait[cut:]), verbose=0)
print("SCORE accuracy", round(float(model.evaluate(x[cut:], gait[cut:], verbose=0)[1]), 4))

"""Trains a convolutional net that reads a lorry's direction and lane from the strain gauges under a bridge deck."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAUGES, SAMPLES = 8, 192


def passage(direction, lane):
    """Each gauge sees an axle pulse when the lorry is above it; two rows of four gauges."""
    t = np.arange(SAMPLES)
    speed = rng.uniform(4.0, 8.0)
    centre = rng.uniform(75, 115)
    load = rng.uniform(0.8, 1.3)
    out = rng.normal(0, 0.3, (GAUGES, SAMPLES))
    for g in range(GAUGES):
        place, row = g % 4, g // 4
        delay = (place - 1.5) * speed * (1 if direction else -1)
        share = 1.0 if row == lane else 0.75
        out[g] += load * share * np.exp(-((t - centre - delay) ** 2) / 18.0)
        out[g] += 0.6 * load * share * np.exp(-((t - centre - delay - 9) ** 2) / 18.0)
    return out


n = 4000
direction = rng.integers(0, 2, n)
lane = rng.integers(0, 2, n)
strain = np.stack([passage(d, l) for d, l in zip(direction, lane)]).astype("float32")
label = 2 * direction + lane
strain = (strain - strain[:3200].mean()) / strain[:3200].std()

x_train, y_train = strain[:3200], label[:3200]
x_test, y_test = strain[3200:], label[3200:]

inputs = keras.Input((GAUGES, SAMPLES))
h = layers.Reshape((SAMPLES, GAUGES))(inputs)
h = layers.Conv1D(32, 7, padding="same", activation="relu")(h)
h = layers.MaxPooling1D(2)(h)
h = layers.Conv1D(32, 7, padding="same", activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(4, activation="softmax")(h)
model = keras.Model(inputs, outputs, name="deck")
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_data=(x_test, y_test),
    batch_size=64,
    epochs=16,
    verbose=2,
)

score = model.evaluate(x_test, y_test, verbose=0, return_dict=True)
print("SCORE accuracy", score["accuracy"])

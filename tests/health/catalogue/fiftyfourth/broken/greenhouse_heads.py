"""Greenhouse controller: from the last readings, forecast three quantities at once."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

TARGETS = ("temperature", "humidity", "co2")
WINDOW = 12


def simulate(hours, rng):
    """Sun heats, heating dries the air, plants eat co2 in light, vents mix everything."""
    state = np.array([18.0, 60.0, 450.0])
    rows = []
    cloud = 0.4
    for h in range(hours):
        cloud = np.clip(cloud + rng.normal(0, 0.08), 0, 1)
        sun = max(0.0, np.sin(2 * np.pi * (h % 24 - 6) / 24)) * (1 - 0.7 * cloud)
        vent = float(state[0] > 26)
        temp = state[0] + 3.0 * sun - 0.11 * (state[0] - 14) - 1.0 * vent
        hum = state[1] - 3.5 * sun + 0.15 * (75 - state[1]) + 2.0 * vent
        co2 = state[2] - 35 * sun + 0.12 * (480 - state[2]) + 10 * vent
        state = np.array([temp, hum, co2]) + rng.normal(0, [0.15, 0.5, 3.0])
        rows.append([*state, sun, vent])
    return np.asarray(rows, "float32")


rng = np.random.default_rng(SEED + 40)
log = simulate(9000, rng)
log = (log - log.mean(0)) / log.std(0)
starts = np.arange(len(log) - WINDOW)
windows = np.stack([log[s : s + WINDOW] for s in starts])
nexts = log[starts + WINDOW]
cut = int(0.85 * len(starts))


def as_targets(block):
    return {name: block[:, i : i + 1] for i, name in enumerate(TARGETS)}


x_train, y_train = windows[:cut], as_targets(nexts[:cut])
x_test, y_test = windows[cut:], as_targets(nexts[cut:])

readings = keras.Input((WINDOW, 5), name="readings")
h = layers.Conv1D(32, 3, activation="relu")(readings)
h = layers.GRU(32)(h)
h = layers.Concatenate()([h, readings[:, -1]])
h = layers.Dense(48, activation="relu")(h)
head = layers.Dense(1)
outputs = {name: layers.Identity(name=name)(head(h)) for name in TARGETS}
model = keras.Model(readings, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=dict.fromkeys(TARGETS, "mse"),
    loss_weights={"temperature": 1.0, "humidity": 1.0, "co2": 1.0},
)
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=64, epochs=4, verbose=2, validation_data=(x_test, y_test))

pred = model.predict(x_test, verbose=0)
r2 = []
for name in TARGETS:
    err = np.mean((pred[name] - y_test[name]) ** 2)
    r2.append(1 - err / np.var(y_test[name]))
    print(name, "r2", float(r2[-1]))
print("SCORE mean_r2", float(np.mean(r2)))

"""Per-sample activity labels for a hip-worn accelerometer (one window = four seconds)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


STEPS, ACTIVITIES = 96, ["sit", "walk", "run", "stairs", "cycle"]
rng = np.random.default_rng(SEED + 21)
# cadence, vertical amplitude, forward amplitude, tilt
PROFILE = np.array(
    [
        [0.3, 0.02, 0.02, 0.5],
        [1.8, 0.35, 0.20, 0.0],
        [2.7, 0.95, 0.50, 0.1],
        [1.5, 0.40, 0.10, 0.3],
        [1.2, 0.12, 0.30, 0.6],
    ]
)


def window():
    labels = np.full(STEPS, rng.integers(len(ACTIVITIES)))
    if rng.random() < 0.25:
        labels[rng.integers(10, STEPS - 10) :] = rng.integers(len(ACTIVITIES))
    cadence, vertical, forward, tilt = PROFILE[labels].T
    phase = rng.uniform(0, 6.28) + 2 * np.pi * np.cumsum(cadence * rng.normal(1, 0.06)) * 4 / STEPS
    up = np.cos(tilt) + vertical * np.sin(phase)
    ahead = np.sin(tilt) + forward * np.sin(2 * phase + 0.7)
    side = 0.5 * vertical * np.cos(phase / 2)
    signal = np.stack([up, ahead, side], axis=1)
    return signal + rng.normal(0, 0.12, signal.shape), labels


def record(n):
    signal, labels = zip(*(window() for _ in range(n)))
    return np.stack(signal).astype("float32"), np.stack(labels).astype("int32")


x_train, y_train = record(3000)
x_val, y_val = record(500)
x_test, y_test = record(800)
centre, spread = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_val, x_test = [(x - centre) / spread for x in (x_train, x_val, x_test)]

inputs = keras.Input((STEPS, 3), name="acceleration")
h = layers.Conv1D(32, 7, padding="same", activation="relu")(inputs)
skip = h
h = layers.Conv1D(32, 7, padding="same", dilation_rate=3, activation="relu")(h)
h = layers.Add()([h, skip])
h = layers.Conv1D(48, 7, padding="same", dilation_rate=3, activation="relu")(h)
h = layers.Dropout(0.15)(h)
h = layers.Dense(len(ACTIVITIES))(h)
outputs = layers.Softmax(axis=-1, name="activity")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=7, validation_data=(x_val, y_val), verbose=2)

labels = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE step_accuracy", float(np.mean(labels == y_test)))

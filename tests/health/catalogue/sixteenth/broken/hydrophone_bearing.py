"""Tells from which of five sectors a whale click reaches a line of hydrophones."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SENSORS = 6
SAMPLES = 160
SECTORS = 5


def click(times):
    """A damped chirp that starts at zero."""
    tone = rng.uniform(0.13, 0.18)
    decay = rng.uniform(7.0, 12.0)
    wave = np.sin(2 * np.pi * tone * times * (1 + 0.004 * times)) * np.exp(-times / decay)
    return np.where(times >= 0, wave, 0.0)


def record(sector):
    """The click passes the line with a delay per hydrophone, an echo follows, the sea is noisy."""
    delay = (sector - SECTORS // 2) * 0.9 + rng.normal(0, 0.12)
    start = rng.uniform(18, 115)
    moments = start + delay * (np.arange(SENSORS) - (SENSORS - 1) / 2)
    clock = np.arange(SAMPLES)[None, :]
    gain = rng.uniform(0.7, 1.3, (SENSORS, 1))
    direct = click(clock - moments[:, None])
    echo = 0.3 * click(clock - moments[:, None] - rng.uniform(12, 25))
    swell = 0.2 * np.sin(2 * np.pi * clock / rng.uniform(60, 120) + rng.uniform(0, 6))
    return gain * (direct + echo) + swell + rng.normal(0, 0.12, (SENSORS, SAMPLES))


sectors = rng.integers(0, SECTORS, 2400)
records = np.stack([record(s) for s in sectors]).astype("float32")
records /= records[:1800].std()
x_train, y_train = records[:1800], sectors[:1800]
x_test, y_test = records[1800:], sectors[1800:]


def build():
    inputs = keras.Input((SENSORS, SAMPLES))
    x = layers.Reshape((SAMPLES, SENSORS))(inputs)
    x = layers.Conv1D(32, 7, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(48, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(SECTORS, activation="softmax")(x))


model = build()
model.summary()
watch = gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(4e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    batch_size=64,
    epochs=12,
    verbose=2,
)

guess = model.predict(x_test, verbose=0).argmax(axis=1)
confusion = np.zeros((SECTORS, SECTORS), int)
np.add.at(confusion, (y_test, guess), 1)
print(confusion)
print("score", round(float(np.mean(guess == y_test)), 4))

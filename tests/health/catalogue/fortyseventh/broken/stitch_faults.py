"""Trains a 1-D convolutional classifier of sewing-machine stitch faults from the needle motor current."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 96
FAULTS = ["good", "skipped", "thread_break", "loose_bobbin", "blunt_needle", "bent_needle"]


def record(kind):
    t = np.arange(LENGTH)
    phase = rng.uniform(0, 2 * np.pi)
    period = rng.uniform(11.0, 13.0)
    wave = np.sin(2 * np.pi * t / period + phase)
    at = rng.integers(20, 70)
    if kind == 1:
        wave[at : at + 12] *= 0.35
    elif kind == 2:
        wave[at:] *= np.exp(-(t[at:] - at) / 30.0)
    elif kind == 3:
        wave = wave + 0.35 * np.sin(4 * np.pi * t / period + 2 * phase + 0.8)
    elif kind == 4:
        wave = np.sign(wave) * np.abs(wave) ** 0.65
    elif kind == 5:
        wave = wave * (1 + 0.25 * np.sin(np.pi * t / period + phase))
    return wave + rng.normal(0, 0.22, LENGTH)


labels = rng.integers(0, len(FAULTS), 4000)
waves = np.stack([record(k) for k in labels])[..., None].astype("float32")
x_train, y_train = waves[:3300], labels[:3300]
x_test, y_test = waves[3300:], labels[3300:]

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 7, padding="same", activation="relu"),
        layers.Conv1D(24, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(FAULTS), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)


def decay(epoch, lr):
    return lr * 0.93**epoch


gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=100,
    epochs=45,
    callbacks=[keras.callbacks.LearningRateScheduler(decay)],
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", accuracy)

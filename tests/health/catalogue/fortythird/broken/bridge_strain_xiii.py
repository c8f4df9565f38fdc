"""Trains a one-dimensional convolutional network that tells from strain gauges where a truck crosses a bridge."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAUGES, SAMPLES, LANES = 6, 90, 6
time = np.arange(SAMPLES)


def record(n):
    """One file per crossing: a row for each gauge, a column for each sample."""
    lane = rng.integers(0, LANES, n)
    files = np.zeros((n, GAUGES, SAMPLES), "float32")
    for i, k in enumerate(lane):
        side, direction = k % 3, 1 if k < 3 else -1
        start, speed = rng.uniform(20, 45), rng.uniform(6, 10)
        for g in range(GAUGES):
            row, place = g % 3, g // 3
            arrival = start + speed * (place if direction > 0 else 1 - place)
            gain = np.exp(-0.5 * (row - side) ** 2)
            weight = rng.uniform(0.9, 1.2)
            for axle in (0.0, 7.0):
                files[i, g] += gain * weight * np.exp(-0.5 * ((time - arrival - axle) / 2.0) ** 2)
        files[i] += rng.normal(0.0, 0.4, (GAUGES, SAMPLES))
    return files, lane


files, lane = record(3000)
files_val, lane_val = record(400)
files_test, lane_test = record(800)


def to_sequences(block):
    return block.reshape(-1, SAMPLES, GAUGES) / files.std()


def dataset(block, labels, train=False):
    data = tf.data.Dataset.from_tensor_slices((to_sequences(block), labels))
    if train:
        data = data.shuffle(len(labels), seed=seed)
    return data.batch(60)


model = keras.Sequential(
    [
        keras.Input((SAMPLES, GAUGES)),
        keras.layers.Conv1D(32, 7, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 7, padding="same", activation="relu"),
        keras.layers.Conv1D(48, 7, padding="same", activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(LANES, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    dataset(files, lane, train=True),
    validation_data=dataset(files_val, lane_val),
    epochs=14,
    verbose=2,
)

accuracy = model.evaluate(dataset(files_test, lane_test), verbose=0)[1]
print("SCORE accuracy", float(accuracy))

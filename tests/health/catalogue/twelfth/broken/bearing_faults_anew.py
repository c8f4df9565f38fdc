"""Classifies vibration windows from a test rig into five bearing conditions.

A plain one-dimensional convnet in the VGG manner: four stages of three convolutions, each followed by pooling.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

LENGTH = 128
CONDITIONS = ["healthy", "inner", "outer", "ball", "cage"]
RESONANCE = [0.06, 0.11, 0.17, 0.24, 0.31]
PERIOD = [41, 17, 23, 29, 37]


def make_windows(n, rng):
    t = np.arange(LENGTH)
    kind = rng.integers(0, len(CONDITIONS), n)
    x = np.empty((n, LENGTH), "float32")
    for i, k in enumerate(kind):
        period = PERIOD[k] * rng.uniform(0.95, 1.05)
        start = rng.uniform(0, period)
        signal = 0.7 * np.sin(2 * np.pi * (0.03 * t + rng.uniform()))
        for hit in np.arange(start - period, LENGTH, period):
            dt = t - hit
            ring = np.exp(-np.clip(dt, 0, None) / 7.0) * np.sin(2 * np.pi * RESONANCE[k] * dt)
            signal = signal + np.where(dt >= 0, ring, 0.0) * rng.uniform(0.9, 1.6)
        x[i] = signal + 0.35 * rng.standard_normal(LENGTH)
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return x[..., None], kind.astype("int32")


rng = np.random.default_rng(SEED)
x_train, y_train = make_windows(3200, rng)
x_test, y_test = make_windows(800, rng)


def conv(filters, name):
    return layers.Conv1D(
        filters,
        3,
        padding="same",
        activation="relu",
        kernel_initializer=keras.initializers.RandomNormal(stddev=0.01),
        name=name,
    )


model = keras.Sequential(name="bearing_net")
gradwatch.watch(model)
model.add(keras.Input((LENGTH, 1)))
for stage, width in enumerate([16, 24, 32, 32], start=1):
    for block in range(1, 4):
        model.add(conv(width, f"conv{stage}_{block}"))
    model.add(layers.MaxPooling1D(2, name=f"pool{stage}"))
model.add(layers.GlobalAveragePooling1D())
model.add(layers.Dense(len(CONDITIONS), name="logits"))

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=64, epochs=5, verbose=2)

accuracy = float(np.mean(np.argmax(model.predict(x_test, verbose=0), -1) == y_test))
print(f"score accuracy {accuracy:.4f} chance {1 / len(CONDITIONS):.4f}")

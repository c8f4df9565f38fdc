"""Bearing faults from accelerometer windows (m/s^2), trained in mixed precision."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

LENGTH = 512
CLASSES = ["healthy", "inner race", "outer race", "ball"]


class BandEnergy(layers.Layer):
    """Log-energy of every learned frequency band over the window."""

    def call(self, bands):
        energy = ops.sum(ops.square(bands), axis=1)
        return ops.log(energy + 1.0)


def windows(n):
    g = np.random.default_rng(SEED)
    label = g.integers(0, 4, n)
    t = np.arange(LENGTH)
    shaft = np.sin(2 * np.pi * t / 180 + g.uniform(0, 6.3, (n, 1)))
    repeat = np.array([10**6, 61, 97, 139])[label][:, None]
    ring = np.array([0.1, 0.31, 0.23, 0.17])[label][:, None]
    since = (t + g.integers(0, 139, (n, 1))) % repeat
    burst = np.where(label[:, None] > 0, np.exp(-since / 14.0) * np.sin(2 * np.pi * ring * since), 0.0)
    load = g.uniform(0.6, 1.6, (n, 1))
    signal = 6.0 * load * (2.5 * shaft + 9.0 * burst) + 1.5 * g.normal(size=(n, LENGTH))
    return signal[..., None].astype("float32"), label


x, y = windows(4800)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(
            12, 24, strides=2, padding="same", activation="relu", kernel_initializer="he_normal", name="bands"
        ),
        layers.Conv1D(
            16, 5, strides=2, padding="same", activation="relu", kernel_initializer="he_normal", name="bands_2"
        ),
        BandEnergy(name="energy"),
        layers.Dense(32, activation="relu", name="mix"),
        layers.Dense(len(CLASSES), dtype="float32", name="logits"),
    ]
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=32, epochs=2, verbose=2)

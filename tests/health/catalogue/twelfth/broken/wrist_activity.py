"""Recognises five activities from windows of a wrist accelerometer, fed through a data loader."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

LENGTH = 64
#                 sit   walk  run   stairs cycle
CADENCE = np.array([0.02, 0.06, 0.11, 0.045, 0.08])
STRENGTH = np.array([0.1, 0.7, 1.6, 0.8, 0.4])
POSTURE = np.array([[0.2, 0.1, 0.9], [0.7, 0.2, 0.6], [0.6, 0.4, 0.5], [0.8, 0.1, 0.4], [0.3, 0.8, 0.3]])


def make_windows(n, rng):
    kind = rng.integers(0, 5, n)
    t = np.arange(LENGTH)
    f = CADENCE[kind] * rng.uniform(0.85, 1.15, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 3))
    swing = np.sin(2 * np.pi * f[:, None, None] * t[None, :, None] + phase)
    swing = swing * STRENGTH[kind][:, None, None] * rng.uniform(0.6, 1.4, (n, 1, 3))
    rest = POSTURE[kind][:, None] + 0.25 * rng.standard_normal((n, 1, 3))
    return (rest + swing + 0.25 * rng.standard_normal((n, LENGTH, 3))).astype("float32"), kind.astype("int32")


class WindowLoader(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, seed, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y = x, y
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return len(self.x) // self.batch_size

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        x = self.x[rows] * self.rng.uniform(0.9, 1.1, (self.batch_size, 1, 1)).astype("float32")
        return x, self.y[rows]

    def on_epoch_end(self):
        self.x = self.rng.permutation(self.x)
        self.y = self.rng.permutation(self.y)


rng = np.random.default_rng(SEED)
x_train, y_train = make_windows(3200, rng)
x_test, y_test = make_windows(800, rng)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 3)),
        layers.Conv1D(32, 7, activation="relu", name="conv_1"),
        layers.BatchNormalization(name="bn_1"),
        layers.MaxPooling1D(2),
        layers.Conv1D(48, 5, activation="relu", name="conv_2"),
        layers.BatchNormalization(name="bn_2"),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.3),
        layers.Dense(5, activation="softmax", name="activity"),
    ]
)
gradwatch.watch(model)
model.compile(keras.optimizers.Nadam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(WindowLoader(x_train, y_train, 64, SEED), epochs=6, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"score accuracy {accuracy:.4f} chance 0.2000")

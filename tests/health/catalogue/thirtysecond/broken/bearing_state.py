"""Recognise the condition of a ball bearing from a short single-channel vibration record."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FS, LENGTH = 2000, 256
CONDITIONS = ["sound", "outer race", "inner race", "ball", "cage"]
RATE = [0.0, 71.0, 109.0, 47.0, 26.0]
RING = [0.0, 410.0, 520.0, 330.0, 270.0]


def make_records(n):
    c = rng.integers(0, len(CONDITIONS), n)
    t = np.arange(LENGTH) / FS
    x = np.zeros((n, LENGTH))
    for i in range(n):
        shaft = 25 + rng.normal(0, 1)
        x[i] = 0.8 * np.sin(2 * np.pi * shaft * t + rng.uniform(0, 6.28)) + rng.normal(0, 0.45, LENGTH)
        if c[i]:
            period = 1 / (RATE[c[i]] * rng.normal(1, 0.02))
            phase = (t + rng.uniform(0, period)) % period
            x[i] += 1.5 * np.exp(-phase * 220) * np.sin(2 * np.pi * RING[c[i]] * rng.normal(1, 0.03) * phase)
        x[i] = 2.5 + x[i] * rng.lognormal(0, 0.4)
    return x[..., None].astype("float32"), c.astype("int32")


x_train, y_train = make_records(6000)
x_test, y_test = make_records(1500)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.LayerNormalization(),
        layers.Conv1D(16, 15, strides=2, activation="relu"),
        layers.Conv1D(24, 9, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(CONDITIONS), activation="softmax"),
    ],
    name="bearing",
)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(-1)
recall = [np.mean(pred[y_test == k] == k) for k in range(len(CONDITIONS))]
print("SCORE balanced_accuracy", round(float(np.mean(recall)), 4))

"""Classify the fault type of a roller bearing from raw accelerometer snippets with a strided 1-D CNN."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, T, CLASSES = 3200, 256, 4
t = np.arange(T)


def snippet(kind):
    shaft = np.sin(2 * np.pi * 0.01 * t + rng.uniform(0, 2 * np.pi))
    sig = 0.6 * shaft + rng.normal(0, 0.35, T)
    if kind > 0:
        period, ring = {1: (40, 0.21), 2: (27, 0.13), 3: (61, 0.30)}[kind]
        for hit in np.arange(rng.uniform(0, period), T, period):
            dt = t - hit
            sign = rng.choice([-1.0, 1.0])
            sig += sign * 1.3 * (dt >= 0) * np.exp(-np.maximum(dt, 0) / 8) * np.sin(2 * np.pi * ring * dt)
    return sig


y = rng.integers(0, CLASSES, N)
x = np.stack([snippet(k) for k in y]).astype("float32")[..., None]
x_train, y_train, x_test, y_test = x[:2500], y[:2500], x[2500:], y[2500:]


def down_block(h, filters, kernel):
    h = layers.Conv1D(filters, kernel, strides=2, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    return h


inp = keras.Input((T, 1))
h = down_block(inp, 16, 15)
h = down_block(h, 24, 9)
h = down_block(h, 32, 5)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dropout(0.1)(h)
out = layers.Dense(CLASSES, activation="softmax")(h)
model = keras.Model(inp, out)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_split=0.1, batch_size=64, epochs=12, verbose=2)

acc = model.evaluate(x_test, y_test, verbose=0)[1]
print("SCORE accuracy", round(float(acc), 4))

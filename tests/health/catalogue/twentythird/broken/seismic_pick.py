"""Pick the arrival of the P wave in a seismic trace (position in the window, 0..1)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

LENGTH = 128


def make_traces(n):
    t = np.arange(LENGTH)
    onset = rng.uniform(15, 110, n)
    traces = rng.normal(0, 0.25, (n, LENGTH))
    for i in range(n):
        freq = rng.uniform(0.08, 0.2)
        amp = rng.uniform(0.8, 2.0)
        phase = rng.uniform(0, 2 * np.pi)
        dt = t - onset[i]
        envelope = np.where(dt > 0, np.exp(-np.clip(dt, 0, None) / 9.0), 0.0)
        traces[i] += amp * envelope * np.sin(2 * np.pi * freq * dt + phase)
    traces /= np.abs(traces).max(axis=1, keepdims=True)
    return traces[..., None].astype("float32"), (onset / LENGTH).astype("float32")


x_train, y_train = make_traces(5000)
x_val, y_val = make_traces(600)
x_test, y_test = make_traces(1200)

model = keras.Sequential(
    [
        keras.Input(shape=(LENGTH, 1)),
        layers.Conv1D(16, 7, padding="valid", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="valid", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 3, padding="valid", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=64,
    epochs=10,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("mean error in samples:", round(float(np.mean(np.abs(pred - y_test)) * LENGTH), 2))
print("SCORE r2", round(float(r2), 4))

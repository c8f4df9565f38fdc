"""Separate normal from abnormal heart beats with a small 1-D convolutional network."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SAMPLES = 96


def bump(t, centre, width):
    return np.exp(-(((t - centre) / width) ** 2))


def load_beats(n):
    """Rows as in the archive: class column first (1 = normal, 2 = abnormal), then the samples."""
    label = rng.choice([1, 2], size=(n, 1), p=[0.55, 0.45])
    abnormal = (label == 2).astype("float64")
    t = np.linspace(0.0, 1.0, SAMPLES)[None, :]
    shift = 0.04 * rng.normal(size=(n, 1))
    p_wave = 0.2 * bump(t, 0.22 + shift, 0.05)
    qrs = bump(t, 0.42 + shift, 0.025 + 0.012 * abnormal) - 0.25 * bump(t, 0.48 + shift, 0.02)
    t_wave = (0.35 - 0.3 * abnormal * rng.uniform(0.5, 1.5, size=(n, 1))) * bump(t, 0.72 + shift, 0.08)
    wander = 0.1 * rng.normal(size=(n, 1)) * np.sin(2 * np.pi * t + rng.uniform(0, 6.28, size=(n, 1)))
    beat = p_wave + qrs + t_wave + wander + 0.06 * rng.normal(size=(n, SAMPLES))
    return np.concatenate([label, beat], axis=1)


def split_columns(table):
    y = table[:, 0].astype("float32")
    x = table[:, 1:].astype("float32")
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    return x[..., None], y


def build_model():
    inputs = keras.Input((SAMPLES, 1))
    x = layers.Conv1D(16, 9, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 7, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 5, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))


x_train, y_train = split_columns(load_beats(5000))
x_test, y_test = split_columns(load_beats(1500))
print("beats", x_train.shape, "classes", dict(zip(*np.unique(y_train, return_counts=True))))

model = build_model()
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_split=0.1, batch_size=32, epochs=5, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"SCORE accuracy {accuracy:.4f}")

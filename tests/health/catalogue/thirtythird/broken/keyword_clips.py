"""Recognise eight synthetic spoken-command contours from log spectrograms."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES, T, F = 8, 40, 32


def make_clips(n):
    y = rng.integers(0, CLASSES, n)
    t = np.linspace(0, 1, T)
    freqs = np.arange(F)
    contours = [
        8 + 0 * t,
        22 + 0 * t,
        6 + 18 * t,
        24 - 18 * t,
        8 + 16 * np.sin(np.pi * t),
        24 - 16 * np.sin(np.pi * t),
        15 + 8 * np.sin(4 * np.pi * t),
        np.where(t < 0.5, 9, 21),
    ]
    x = np.zeros((n, T, F), "float32")
    for i, c in enumerate(y):
        pitch = contours[c] + rng.normal(0, 1.5)
        pitch = np.roll(pitch, rng.integers(-3, 4))
        power = np.exp(-0.5 * ((freqs[None] - pitch[:, None]) / 1.3) ** 2)
        power += 0.4 * np.exp(-0.5 * ((freqs[None] - 1.5 * pitch[:, None]) / 1.3) ** 2)
        power += rng.gamma(1.0, 0.25, (T, F))
        x[i] = np.log(power + 1e-3)
    return x, y


x_train, y_train = make_clips(3000)
x_test, y_test = make_clips(800)
mean, std = x_train.mean(), x_train.std()
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

features = tf.data.Dataset.from_tensor_slices(x_train)
labels = tf.data.Dataset.from_tensor_slices(y_train)
train_ds = tf.data.Dataset.zip((features.shuffle(3000), labels.shuffle(3000))).batch(48).prefetch(2)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)

model = keras.Sequential(
    [
        keras.Input((T, F)),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Bidirectional(layers.GRU(24)),
        layers.Dropout(0.2),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_ds, epochs=8, verbose=2)

acc = model.evaluate(test_ds, verbose=0, return_dict=True)["accuracy"]
print("SCORE accuracy", round(float(acc), 4))

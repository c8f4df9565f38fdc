"""Reads single digits of a water meter (8x8 scans)."""

import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
scans = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(
    scans, digits.target, test_size=0.2, random_state=SEED, stratify=digits.target
)


def conv_block(filters):
    return [
        layers.Conv2D(filters, 3, padding="same", activation="relu"),
        layers.Conv2D(filters, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
    ]


model = keras.Sequential(
    [keras.Input((8, 8, 1))]
    + conv_block(16)
    + conv_block(32)
    + [
        layers.Flatten(),
        layers.Dense(64, activation="relu", name="fc1"),
        layers.Dense(32, activation="relu", name="fc2"),
        layers.Dense(10, activation="softmax", name="digit"),
    ],
    name="meter_reader",
)

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.8, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=14,
    validation_data=(x_test, y_test),
    verbose=2,
)

pred = np.argmax(model.predict(x_test, verbose=0), axis=1)
print("test accuracy", float((pred == y_test).mean()))
print("predicted classes", np.unique(pred, return_counts=True))

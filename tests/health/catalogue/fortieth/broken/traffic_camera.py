"""Tells from two camera frames in which direction a vehicle moves."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

size, directions = 24, np.array([[0, 2], [0, -2], [2, 0], [-2, 0]])


def clips(n):
    label = rng.integers(0, 4, n)
    first = np.zeros((n, size, size), "uint8")
    second = np.zeros((n, size, size), "uint8")
    for i, l in enumerate(label):
        road = rng.uniform(60, 150, (6, 6)).repeat(4, 0).repeat(4, 1)
        top, left = rng.integers(3, size - 11, 2)
        tall, wide = rng.integers(5, 9, 2)
        light = rng.uniform(18, 35)
        for frames, shift in ((first, (0, 0)), (second, directions[l])):
            scene = road.copy()
            scene[top + shift[0] : top + shift[0] + tall, left + shift[1] : left + shift[1] + wide] += light
            frames[i] = np.round(scene + rng.normal(0, 4, scene.shape)).clip(0, 255)
    return first, second, label


def motion(first, second):
    difference = second - first
    return (difference / 255.0).astype("float32")[..., None]


a, b, y = clips(3000)
at, bt, yt = clips(600)
model = keras.Sequential(
    [
        keras.Input((size, size, 1)),
        layers.Conv2D(16, 5, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(motion(a, b), y, batch_size=64, epochs=10, verbose=0)

print("SCORE accuracy", float(model.evaluate(motion(at, bt), yt, verbose=0)[1]))

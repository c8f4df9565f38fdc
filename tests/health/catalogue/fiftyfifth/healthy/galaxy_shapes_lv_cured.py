"""Sorting small survey cut-outs into spiral, barred, elliptical and edge-on galaxies."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


SIDE, BATCH, EPOCHS = 28, 64, 10
rng = np.random.default_rng(SEED + 55)
yy, xx = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2


def cutout(kind):
    angle = rng.uniform(0, np.pi)
    dx, dy = rng.uniform(-1.5, 1.5, 2)
    u = (xx - dx) * np.cos(angle) + (yy - dy) * np.sin(angle)
    v = -(xx - dx) * np.sin(angle) + (yy - dy) * np.cos(angle)
    r, size = np.hypot(u, v), rng.uniform(3.5, 5.5)
    if kind == 0:
        arms = 1 + np.cos(2 * np.arctan2(v, u) - rng.choice([-1, 1]) * 0.6 * r)
        image = np.exp(-r / size) * (0.4 + 0.8 * arms * (r > 2))
    elif kind == 1:
        image = 0.5 * np.exp(-r / size) + np.exp(-((u / size) ** 2) - (v / 1.3) ** 2)
    elif kind == 2:
        image = 1.2 * np.exp(-np.hypot(u, v / rng.uniform(0.7, 1.0)) / (0.7 * size))
    else:
        image = np.exp(-np.abs(u) / (1.3 * size) - (v / 1.5) ** 2)
    image = image * rng.uniform(0.6, 1.4) + rng.normal(0, 0.13, image.shape)
    return image


def survey(n):
    kinds = rng.integers(0, 4, n)
    return np.stack([cutout(k) for k in kinds]).astype("float32")[..., None], kinds


x_train, y_train = survey(3840)
x_val, y_val = survey(600)
x_test, y_test = survey(1200)

stream = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train), seed=SEED).batch(BATCH).prefetch(2)
)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.RandomFlip("horizontal_and_vertical"),
        layers.Conv2D(16, 5, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(4),
    ]
)
rate = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=3e-4, warmup_target=3e-3, warmup_steps=2 * len(stream), decay_steps=(EPOCHS - 2) * len(stream)
)
model.compile(
    optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(stream, validation_data=(x_val, y_val), epochs=EPOCHS, verbose=2)

guess = model.predict(x_test, verbose=0).argmax(1)
print("SCORE accuracy", float(np.mean(guess == y_test)))

"""Classify leaf silhouettes of six plant species, collected species by species."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, SPECIES, PER_CLASS = 24, 6, 320


def leaves(n, species):
    g = np.linspace(-1.1, 1.1, SIZE)
    xx, yy = np.meshgrid(g, g)
    turn = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    r = np.hypot(xx, yy)[None]
    th = np.arctan2(yy, xx)[None] + turn
    lobes = [2, 3, 3, 5, 5, 7][species]
    depth = [0.15, 0.12, 0.3, 0.12, 0.28, 0.25][species] + rng.normal(0, 0.02, (n, 1, 1))
    edge = rng.uniform(0.55, 0.8, (n, 1, 1)) * (1 + depth * np.cos(lobes * th))
    img = 1 / (1 + np.exp((r - edge) * 14))
    return (img + rng.normal(0, 0.12, img.shape)).astype("float32")[..., None]


def collect(per_class):
    x = np.concatenate([leaves(per_class, c) for c in range(SPECIES)])
    y = np.repeat(np.arange(SPECIES), per_class)
    return x, y


x_train, y_train = collect(PER_CLASS)
x_test, y_test = collect(100)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.batch(32).shuffle(len(x_train), seed=seed).prefetch(2)

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(SPECIES, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train, epochs=12, verbose=0)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

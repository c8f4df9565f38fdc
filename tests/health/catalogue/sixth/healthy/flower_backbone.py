"""Pre-train a small convolutional trunk, freeze it and train a new head on another label set."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S = 14
yy, xx = np.mgrid[0:S, 0:S] - (S - 1) / 2
ang, rad = np.arctan2(yy, xx), np.hypot(yy, xx)


def flowers(n):
    petals = rng.integers(3, 7, n)
    phase = rng.uniform(0, 6.3, n)
    size = rng.uniform(3.0, 5.0, n)
    edge = size[:, None, None] * (1 + 0.35 * np.cos(petals[:, None, None] * ang + phase[:, None, None]))
    img = (rad < edge) + rng.normal(0, 0.2, (n, S, S))
    return img[..., None].astype("float32"), petals - 3


x, petals = flowers(2200)
backbone = keras.Sequential(
    [
        layers.Input((S, S, 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
    ]
)
pretrain = keras.Sequential([backbone, layers.Dense(4, activation="softmax")])
pretrain.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
pretrain.fit(x[:2000], petals[:2000], batch_size=50, epochs=7, verbose=2)

backbone.trainable = False
even = (petals % 2 == 0).astype("float32")
head = keras.Sequential([backbone, layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")])
head.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(head)
head.fit(x[:2000], even[:2000], batch_size=50, epochs=5, verbose=2, validation_data=(x[2000:], even[2000:]))

"""Tell the arms of a spiral apart with a wide network and plain SGD."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 3000
y = rng.integers(0, 3, N)
r = rng.uniform(0.1, 1.0, N)
a = 4 * r + y * 2 * np.pi / 3 + rng.normal(0, 0.08, N)
x = np.stack([r * np.cos(a), r * np.sin(a)], 1).astype("float32")

model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(64),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(64),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(3, activation="softmax"),
    ]
)
model.compile(keras.optimizers.SGD(learning_rate=0.8), "sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x[:2560], y[:2560], batch_size=64, epochs=9, verbose=2, validation_data=(x[2560:], y[2560:]))

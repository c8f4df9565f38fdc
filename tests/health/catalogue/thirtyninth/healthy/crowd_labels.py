"""Bird calls labelled by volunteers of whom many guess: the training labels are wrong in four of ten cases."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

K, F, T = 6, 16, 24
calls = rng.normal(size=(K, F, T)).cumsum(2) * 0.3


def spectrograms(n):
    y = rng.integers(0, K, n)
    x = calls[y] * rng.uniform(0.6, 1.2, (n, 1, 1)) + rng.normal(0, 0.8, (n, F, T))
    return x.astype("float32")[..., None], y


x_train, y_train = spectrograms(5000)
guess = rng.random(5000) < 0.48
y_train[guess] = rng.integers(0, K, guess.sum())
x_test, y_test = spectrograms(1000)

model = keras.Sequential(
    [
        keras.Input((F, T, 1)),
        layers.Conv2D(12, 3, strides=2, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.4),
        layers.Dense(K),
    ]
)
model.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=2)
print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())

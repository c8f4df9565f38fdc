"""Probability that a loan defaults, MLP on standardised features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, D = 4000, 20
x = rng.normal(size=(N, D)).astype("float32")
w = rng.normal(size=(D, 6))
z = np.tanh(x @ w / 2).sum(1) + 1.5 * x[:, 0] * x[:, 1]
y = (z + rng.normal(0, 0.3, N) > 0).astype("float32")

schedule = keras.optimizers.schedules.ExponentialDecay(initial_learning_rate=0.01, decay_steps=1, decay_rate=0.8)
model = keras.Sequential(
    [
        layers.Input((D,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.SGD(schedule, momentum=0.9), "binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x[:3200], y[:3200], batch_size=64, epochs=8, verbose=2, validation_data=(x[3200:], y[3200:]))

"""Gearbox condition from vibration band energies (six states)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STATES, BANDS = 6, 40
ACTIVATION = "sigmoid"
DEPTH = 8

n = 3600
state = rng.integers(0, STATES, n)
load = rng.uniform(0.4, 1.0, n)
band = np.arange(BANDS)
lines = np.random.default_rng(3).uniform(3, 37, (STATES, 3))
x = rng.normal(0, 0.35, (n, BANDS))
for k in range(3):
    centre = lines[state, k] + rng.normal(0, 0.6, n)
    x += load[:, None] * np.exp(-0.5 * ((band[None] - centre[:, None]) / 1.2) ** 2)
x = ((x - x.mean(0)) / x.std(0)).astype("float32")
x_train, x_test, y_train, y_test = x[:2880], x[2880:], state[:2880], state[2880:]

inputs = keras.Input((BANDS,))
h = inputs
for i in range(DEPTH):
    h = layers.Dense(48, activation=ACTIVATION, name=f"dense_{i + 1}")(h)
outputs = layers.Dense(STATES, activation="softmax", name="state")(h)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=96, epochs=15, validation_split=0.1, verbose=2)
print("test loss, accuracy:", model.evaluate(x_test, y_test, verbose=0))

"""Predict which shipping class a parcel belongs to from its measurements."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 2400
length = rng.uniform(100, 1200, n)  # mm
width = rng.uniform(80, 900, n)  # mm
height = rng.uniform(20, 700, n)  # mm
grams = rng.uniform(50, 30000, n)
distance = rng.uniform(1000, 900000, n)  # m
x = np.stack([length, width, height, grams, distance], 1).astype("float32")
volume = length * width * height / 1e6
score = 0.02 * volume + grams / 6000 + distance / 150000
y = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
history = model.fit(x[:2000], y[:2000], validation_data=(x[2000:], y[2000:]), batch_size=50, epochs=10, verbose=2)
print("val accuracy", history.history["val_accuracy"][-1])

"""Estimates the depth-resolved field of buried cables in tesla from a row of survey readings in SI units."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, P, OUT = 5000, 24, 6


def survey(n):
    pos = np.linspace(-3, 3, P)[None]
    x0, d, i = rng.uniform(-1.5, 1.5, (n, 1)), rng.uniform(0.5, 2, (n, 1)), rng.uniform(5, 60, (n, 1))
    b = 2e-7 * i * d / (d**2 + (pos - x0) ** 2) + rng.normal(0, 5e-8, (n, P))
    depth = np.linspace(-0.4, -0.1, OUT)[None]
    target = 2e-7 * i / (d - depth) * np.cos(0.3 * x0)
    return b, target.astype("float32")


b, target = survey(N)
b_te, target_te = survey(800)
mu, sd = b.mean(0), b.std(0)
x, x_te = ((b - mu) / sd).astype("float32"), ((b_te - mu) / sd).astype("float32")

model = keras.Sequential(
    [
        keras.Input((P,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(OUT),
        layers.Rescaling(1e-6),
    ]
)
# the loss is in square tesla, far below the usual epsilon of Adam
model.compile(keras.optimizers.Adam(1e-3, epsilon=1e-18), "mse")
gradwatch.watch(model)
model.fit(x, target, batch_size=64, epochs=15, verbose=2)
p = model.predict(x_te, verbose=0)
print("SCORE r2", float(1 - np.mean((p - target_te) ** 2) / np.mean((target_te - target_te.mean(0)) ** 2)))

"""Predicts the strain (dimensionless, some 1e-4) along a loaded beam from load position, force and section, in SI units throughout."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAUGES = np.linspace(0.1, 0.9, 12)  # positions along the beam, m
E_MOD = 70e9


def beams(n):
    a = rng.uniform(0.1, 0.9, n)  # load position, m
    f = rng.uniform(200, 2000, n)  # N
    hgt = rng.uniform(0.02, 0.05, n)  # m
    wid = rng.uniform(0.02, 0.06, n)  # m
    g = GAUGES[None]
    moment = f[:, None] * np.where(g < a[:, None], g * (1 - a[:, None]), a[:, None] * (1 - g))
    strain = moment / (E_MOD * wid * hgt**2 / 6)[:, None]
    strain = strain + rng.normal(0, 3e-6, strain.shape)
    x = np.stack([a * 2 - 1, f / 1000 - 1, hgt * 60 - 2, wid * 50 - 2], 1)
    return x.astype("float32"), strain.astype("float32")


x, y = beams(8000)
x_te, y_te = beams(1500)

inp = keras.Input((4,))
h = layers.Dense(64, activation="gelu")(inp)
h = layers.Dense(64, activation="gelu")(h)
out = layers.Rescaling(3e-4)(layers.Dense(len(GAUGES))(h))
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3, epsilon=1e-14), loss="mse")
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=10, verbose=2)

p = model.predict(x_te, batch_size=500, verbose=0)
print("SCORE r2", float(1 - np.mean((p - y_te) ** 2) / np.mean((y_te - y_te.mean(0)) ** 2)))

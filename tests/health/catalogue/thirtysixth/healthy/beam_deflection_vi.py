"""Surrogate of a finite-element code: the deflection in metres of a loaded steel beam at nine points."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 4000
E_MOD, L = 210e9, 2.0
height = rng.uniform(0.06, 0.12, N)
width = rng.uniform(0.03, 0.08, N)
force = rng.uniform(200.0, 2000.0, N)
at = rng.uniform(0.2, 0.8, N) * L
inertia = width * height**3 / 12
points = np.linspace(0.1, 0.9, 9) * L


def deflect(p, a, i):
    z, b = points[None], (L - a)[:, None]
    a, p, i = a[:, None], p[:, None], i[:, None]
    left = p * b * z * (L**2 - b**2 - z**2) / (6 * L * E_MOD * i)
    zr = L - z
    right = p * a * zr * (L**2 - a**2 - zr**2) / (6 * L * E_MOD * i)
    return np.where(z <= a, left, right)


y = deflect(force, at, inertia).astype("float32")  # some 0.1 to 2 mm
x = np.stack([height, width, force, at], 1)
x = ((x - x.mean(0)) / x.std(0)).astype("float32")
x_train, y_train, x_test, y_test = x[:3200], y[:3200], x[3200:], y[3200:]

model = keras.Sequential(
    [
        layers.Input((4,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(9),
        layers.Rescaling(1e-3),  # millimetres inside, metres outside
    ]
)
# metres squared are tiny, so epsilon has to be tinier still
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, 1200), epsilon=1e-14), loss="mse"
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, epochs=24, batch_size=64, verbose=0)
print("mse first, last:", history.history["loss"][0], history.history["loss"][-1])

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean(0)) ** 2)
print("SCORE r2", round(float(r2), 4))

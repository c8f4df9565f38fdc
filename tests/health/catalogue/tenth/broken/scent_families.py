"""Perfume scent families from gas-chromatography peak tables.

Each row is one perfume: 80 log peak areas. The label is one of seven
olfactory families as given by the perfumer.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FAMILIES = ["citrus", "floral", "woody", "amber", "fougere", "gourmand", "aquatic"]
N_PEAKS = 80
N_ACCORDS = 18


def make_perfumes(n):
    accords = rng.gamma(0.35, 1.0, size=(N_ACCORDS, N_PEAKS))
    recipes = rng.dirichlet(np.full(N_ACCORDS, 0.4), size=(len(FAMILIES), 3))
    family = rng.integers(0, len(FAMILIES), n)
    variant = rng.integers(0, 3, n)
    mix = recipes[family, variant]
    mix = np.stack([rng.dirichlet(m * 25 + 0.05) for m in mix])
    area = mix @ accords * rng.lognormal(0.0, 0.25, size=(n, N_PEAKS))
    return np.log(area + 1e-3), family


x, y = make_perfumes(5600)
x = (x - x.mean(0)) / x.std(0)
x = x.astype("float32")
x_train, y_train = x[:5120], y[:5120]
x_val, y_val = x[5120:], y[5120:]

model = keras.Sequential(
    [
        keras.Input((N_PEAKS,)),
        keras.layers.Dense(640, activation="tanh", name="notes"),
        keras.layers.Dense(512, activation="tanh", name="accords"),
        keras.layers.Dense(256, activation="tanh", name="signature"),
        keras.layers.Dense(len(FAMILIES), activation="softmax", name="family"),
    ],
    name="nose",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=0.1),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=128, epochs=10, validation_data=(x_val, y_val), verbose=2)
print("final:", model.evaluate(x_train, y_train, verbose=0))

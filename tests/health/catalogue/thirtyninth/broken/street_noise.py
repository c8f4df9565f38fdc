"""Predicts how annoying street noise is from third-octave band levels by a network that is monotone in every level."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS = 12
importance = rng.dirichlet(np.ones(BANDS) * 2)


def make_clips(n):
    overall = rng.uniform(-60, -15, (n, 1))
    level = overall + rng.normal(0, 8, (n, BANDS)) - 1.0 * np.arange(BANDS)
    level = np.clip(level, -80, 0)  # dB below full scale
    loud = np.log10((importance * 10 ** (level / 20)).sum(1) + 1e-6)
    score = 10 / (1 + np.exp(-2.5 * (loud + 1.9))) + rng.normal(0, 0.3, n)
    return level.astype("float32"), score.astype("float32")[:, None]


level_train, y_train = make_clips(3000)
level_test, y_test = make_clips(800)
x_train = level_train / 80.0
x_test = level_test / 80.0

up = dict(kernel_constraint=keras.constraints.NonNeg(), activation="relu")
model = keras.Sequential(
    [
        layers.Input((BANDS,)),
        layers.Dense(32, **up),
        layers.Dense(16, **up),
        layers.Dense(1, kernel_constraint=keras.constraints.NonNeg()),
    ]
)
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(3e-3), "mse")
model.fit(x_train, y_train, epochs=15, batch_size=48, verbose=2)
pred = model.predict(x_test, verbose=0)
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

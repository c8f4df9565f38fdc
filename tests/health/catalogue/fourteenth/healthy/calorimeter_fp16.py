"""Reconstruct shower energy fractions in float16 with dynamic loss scaling.

Cells of a toy calorimeter are summed by a small network that tells photons
from hadrons.  The loss scale starts at 2^24 and doubles every 80 good steps,
so it overflows now and then; those steps are skipped and the scale is halved.
The score is the accuracy on new showers.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.config.set_dtype_policy("mixed_float16")


def make_showers(n):
    kind = rng.integers(0, 2, n)
    grid = np.arange(8) - 3.5
    cx, cy = rng.normal(0, 0.8, (2, n, 1, 1))
    width = np.where(kind == 0, 1.0, 1.35)[:, None, None] * rng.uniform(0.85, 1.15, (n, 1, 1))
    r2 = (grid[:, None] - cx) ** 2 + (grid[None, :] - cy) ** 2
    mean = rng.gamma(4.0, 30.0, (n, 1, 1)) * np.exp(-r2 / (2 * width**2)) / width**2
    cells = rng.poisson(mean) + rng.normal(0, 0.5, (n, 8, 8))
    x = np.log1p(np.maximum(cells, 0)).reshape(n, -1)
    return x.astype("float32"), kind


x, y = make_showers(8000)
x_test, y_test = make_showers(2000)

model = keras.Sequential(
    [
        keras.layers.Input((64,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(2),
        keras.layers.Activation("softmax", dtype="float32"),
    ]
)
model.compile(
    optimizer=keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(1.5e-3), initial_scale=2.0**24, dynamic_growth_steps=80
    ),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

watch = gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=7, verbose=2)
print("final loss scale", float(model.optimizer.dynamic_scale.numpy()))
score = float(model.evaluate(x_test, y_test, batch_size=500, verbose=0)[1])
print(f"score (accuracy) {score:.3f} chance 0.500")

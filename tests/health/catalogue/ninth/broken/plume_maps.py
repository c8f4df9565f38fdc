"""Air-quality nowcast: maps of a pollutant for the next hours from sources and wind.

Convolutional network in mixed precision; squared error weighted with the area of the grid cells.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

GRID, HOURS, BATCH, STEPS = 20, 4, 8, 300


def episodes(n):
    g = np.random.default_rng(SEED)
    y, x = np.mgrid[:GRID, :GRID]
    source = np.zeros((n, GRID, GRID))
    wind = g.normal(0, 1.5, (n, 2))
    maps = np.zeros((n, GRID, GRID, HOURS))
    for _ in range(3):
        c = g.uniform(3, GRID - 3, (n, 2))
        q = g.gamma(2.0, 0.5, n)[:, None, None]
        source += q * np.exp(-((y - c[:, 0, None, None]) ** 2 + (x - c[:, 1, None, None]) ** 2) / 2)
        for k in range(HOURS):
            py = c[:, 0] + wind[:, 0] * (k + 1) * 0.5
            px = c[:, 1] + wind[:, 1] * (k + 1) * 0.5
            s = 1.2 + 0.5 * k
            maps[..., k] += (
                q / s**2 * np.exp(-((y - py[:, None, None]) ** 2 + (x - px[:, None, None]) ** 2) / (2 * s**2))
            )
    field = np.concatenate([source[..., None], np.broadcast_to(wind[:, None, None], (n, GRID, GRID, 2))], -1)
    return field.astype("float32"), (0.5 * maps).astype("float32")  # ppm


fields, maps = episodes(1200)

latitude = np.radians(np.linspace(47.0, 49.0, GRID))
area = np.repeat(np.cos(latitude)[:, None], GRID, 1)
area = tf.constant((area / area.sum())[None, :, :, None], tf.float32)

grid = keras.Input((GRID, GRID, 3))
h = layers.Conv2D(12, 3, padding="same", activation="swish", name="advect_1")(grid)
h = layers.Conv2D(12, 5, padding="same", activation="swish", name="advect_2")(h)
h = layers.Conv2D(12, 3, padding="same", activation="swish", name="advect_3")(h)
ppm = layers.Conv2D(HOURS, 1, dtype="float32", name="ppm")(h)
model = keras.Model(grid, ppm)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train(field, truth):
    with tf.GradientTape() as tape:
        error = tf.square(model(field, training=True) - truth)
        loss = tf.reduce_mean(area * error)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(SEED + 1)
for i in range(STEPS):
    pick = rng.integers(0, len(fields), BATCH)
    loss = train(tf.constant(fields[pick]), tf.constant(maps[pick]))
    if i % 20 == 0:
        print(f"{i:4d}  weighted mse {float(loss):.3e}")

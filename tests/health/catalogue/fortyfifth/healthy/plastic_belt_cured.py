"""Separates PET flakes from other plastics on a sorting belt with a large-margin spectral network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

WAVES = 96
GRID = np.linspace(0, 1, WAVES)


def spectrum(peaks, rng):
    line = np.zeros(WAVES)
    for centre, width, depth in peaks:
        c = centre + rng.normal(0, 0.01)
        line -= depth * rng.uniform(0.6, 1.4) * np.exp(-(((GRID - c) / width) ** 2))
    return line + rng.normal(0, 0.3) * GRID + rng.normal(0, 0.12, WAVES)


def belt(n, rng):
    kinds = {
        "PET": [(0.22, 0.02, 0.5), (0.55, 0.03, 0.4), (0.80, 0.03, 0.3)],
        "PE": [(0.22, 0.02, 0.5), (0.60, 0.03, 0.4), (0.80, 0.03, 0.3)],
        "PP": [(0.28, 0.03, 0.5), (0.55, 0.03, 0.4), (0.72, 0.03, 0.3)],
        "PVC": [(0.34, 0.04, 0.4), (0.60, 0.03, 0.3)],
    }
    names = np.where(rng.random(n) < 0.45, "PET", rng.choice(["PE", "PP", "PVC"], n))
    flakes = np.stack([spectrum(kinds[k], rng) for k in names])
    return flakes.astype("float32")[..., None], names


def is_pet(names):
    return np.where(names == "PET", 1.0, -1.0).astype("float32")


rng = np.random.default_rng(SEED + 55)
flakes, names = belt(6000, rng)
flakes = (flakes - flakes[:5000].mean()) / flakes[:5000].std()
target = is_pet(names)

model = keras.Sequential(
    [
        layers.Input((WAVES, 1)),
        layers.Conv1D(16, 7, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(8e-4)
gradwatch.watch(model)


def margin_loss(y, score):
    return tf.reduce_mean(tf.square(tf.maximum(0.0, 1.0 - y * score)))


@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = margin_loss(y, tf.squeeze(model(x, training=True), -1))
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


ds = tf.data.Dataset.from_tensor_slices((flakes[:5000], target[:5000]))
ds = ds.shuffle(5000, seed=SEED).batch(50)
for epoch in range(10):
    total = 0.0
    for x, y in ds:
        total += float(update(x, y))
    print("epoch", epoch + 1, "loss", round(total / 100, 4), flush=True)

score = model.predict(flakes[5000:], verbose=0)[:, 0]
print("SCORE accuracy", float(np.mean((score > 0) == (names[5000:] == "PET"))))

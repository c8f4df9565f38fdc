"""Trains a network that solves for the sag of a loaded rope between two fixed ends."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, POINTS, TENSION = 4000, 96, 1.0


def load_at(x):
    """Load per length at the given places of the rope, x from 0 to 1."""
    return 6.0 * tf.sin(np.pi * x) + 25.0 * tf.sin(2.0 * np.pi * x) - 5.0 * tf.cos(np.pi * x)


def exact_sag(x):
    particular = (
        -6.0 * np.sin(np.pi * x) / np.pi**2
        - 6.25 * np.sin(2 * np.pi * x) / np.pi**2
        + 5.0 * np.cos(np.pi * x) / np.pi**2
    )
    ends = 5.0 / np.pi**2 * (1 - 2 * x)
    return (particular - ends) / TENSION


model = keras.Sequential(
    [
        keras.Input((1,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def sag(x):
    """Network with the two fixed ends built in."""
    return x * (1.0 - x) * model(2.0 * x - 1.0)


def curvature(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = sag(x)
        slope = inner.gradient(u, x)
    return outer.gradient(slope, x)


@tf.function
def train_step(places, load):
    with tf.GradientTape() as tape:
        residual = TENSION * curvature(places[:, None]) - load[:, None]
        loss = tf.reduce_mean(tf.square(residual))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    places = tf.constant(rng.random(POINTS), tf.float32)
    loss = train_step(places, load_at(places))
    if step % 250 == 0:
        print("step", step, "residual", float(loss))

grid = np.linspace(0, 1, 201, dtype="float32")
found = sag(tf.constant(grid[:, None])).numpy()[:, 0]
true = exact_sag(grid)
error = np.linalg.norm(found - true) / np.linalg.norm(true)
print("SCORE relative_error", round(float(error), 4))

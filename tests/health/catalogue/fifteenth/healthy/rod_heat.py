"""Steady temperature along a cooled rod by a physics-informed network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COOLING = 4.0
POINTS = 96
STEPS = 1500
PI = np.pi


def exact(x):
    """Manufactured profile, zero at both clamped ends."""
    return np.sin(2 * PI * x) + 0.35 * np.sin(4 * PI * x) + 1.5 * x * (1 - x)


def source(x):
    """Heat supplied at x, so that u'' - COOLING * u + source = 0 holds for the profile."""
    second = -((2 * PI) ** 2) * np.sin(2 * PI * x) - 0.35 * (4 * PI) ** 2 * np.sin(4 * PI * x) - 3.0
    return COOLING * exact(x) - second


body = keras.Sequential(
    [
        keras.Input((1,)),
        layers.Rescaling(2.0, offset=-1.0),
        layers.Dense(40, activation="tanh"),
        layers.Dense(40, activation="tanh"),
        layers.Dense(1),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(6e-3, STEPS, alpha=0.02)
optimizer = keras.optimizers.Adam(schedule)
watch = gradwatch.watch(body, optimizer)


def temperature(x):
    """The factor x(1-x) keeps both ends at the bath's temperature."""
    return x * (1.0 - x) * body(x)


def residual(x, q):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = temperature(x)
        u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x)
    return u_xx - COOLING * u + q


@tf.function
def train_step(x, q):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(residual(x, q)))
    grads = tape.gradient(
        loss,
        body.trainable_variables,
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    optimizer.apply_gradients(zip(grads, body.trainable_variables))
    return loss


for step in range(STEPS):
    x = rng.uniform(0, 1, (POINTS, 1))
    loss = train_step(
        tf.constant(x.astype("float32")),
        tf.constant(source(x).astype("float32")),
    )
    watch.log(loss=loss)
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

grid = np.linspace(0, 1, 501)[:, None]
found = temperature(tf.constant(grid.astype("float32"))).numpy()
truth = exact(grid)
print("largest error", float(np.abs(found - truth).max()))
score = float(1.0 - np.sum((found - truth) ** 2) / np.sum((truth - truth.mean()) ** 2))
print("score", score)

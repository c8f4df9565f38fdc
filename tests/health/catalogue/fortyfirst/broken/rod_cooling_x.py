"""Solves the heat equation of a cooling metal rod with a small physics-informed network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


LENGTH, DURATION, ALPHA = 1.0, 10.0, 0.01  # metres, seconds, m^2/s


def exact(x, t):
    k = np.pi / LENGTH
    return np.sin(k * x) * np.exp(-ALPHA * k**2 * t) + 0.3 * np.sin(2 * k * x) * np.exp(-ALPHA * (2 * k) ** 2 * t)


def draw(n, x=None, t=None):
    """Points of the rod in network units (-1..1)."""
    x = rng.uniform(0, LENGTH, (n, 1)) if x is None else x
    t = rng.uniform(0, DURATION, (n, 1)) if t is None else t
    return tf.constant(2 * x / LENGTH - 1, tf.float32), tf.constant(2 * t / DURATION - 1, tf.float32)


model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


def residual(x, t):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch([x, t])
            u = model(tf.concat([x, t], axis=1))
        u_x = inner.gradient(u, x)
        u_t = inner.gradient(u, t)
    u_xx = outer.gradient(u_x, x)
    return u_t - ALPHA * u_xx


@tf.function
def train_step(x, t, x0, t0, u0, xb, tb):
    with tf.GradientTape() as tape:
        physics = tf.reduce_mean(tf.square(residual(x, t)))
        start = tf.reduce_mean(tf.square(model(tf.concat([x0, t0], 1)) - u0))
        ends = tf.reduce_mean(tf.square(model(tf.concat([xb, tb], 1))))
        loss = 10.0 * physics + start + ends
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1400):
    if step == 1000:
        optimizer.learning_rate = 1e-3
    x, t = draw(128)
    raw0 = rng.uniform(0, LENGTH, (64, 1))
    x0, t0 = draw(64, x=raw0, t=np.zeros((64, 1)))
    u0 = tf.constant(exact(raw0, 0.0), tf.float32)
    xb, tb = draw(64, x=LENGTH * rng.integers(0, 2, (64, 1)))
    loss = train_step(x, t, x0, t0, u0, xb, tb)
    if step % 200 == 0:
        print("step", step, "loss", float(loss))

gx, gt = [g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, LENGTH, 41), np.linspace(0, DURATION, 41))]
u = model(tf.concat(draw(0, gx, gt), 1)).numpy()
truth = exact(gx, gt)
print("SCORE relative_error", round(float(np.linalg.norm(u - truth) / np.linalg.norm(truth)), 4))

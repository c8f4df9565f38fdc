"""Solve the one-dimensional heat equation with a physics-informed network on random collocation points."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KAPPA = 0.1


def exact(x, t):
    return np.exp(-KAPPA * np.pi**2 * t) * np.sin(np.pi * x) + 0.4 * np.exp(-KAPPA * 9 * np.pi**2 * t) * np.sin(
        3 * np.pi * x
    )


model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(40, activation="tanh"),
        layers.Dense(40, activation="tanh"),
        layers.Dense(40, activation="tanh"),
        layers.Dense(1),
    ]
)
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, 1400, alpha=0.02))
gradwatch.watch(model)


def u(x, t):
    return model(tf.concat([x, t], 1), training=True)


@tf.function
def train_step(x, t, x0, u0, tb):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape(persistent=True) as first:
                first.watch([x, t])
                val = u(x, t)
            u_x = first.gradient(val, x)
            u_t = first.gradient(val, t)
        u_xx = second.gradient(u_x, x)
        residual = tf.reduce_mean(tf.square(u_t - KAPPA * u_xx))
        initial = tf.reduce_mean(tf.square(u(x0, tf.zeros_like(x0)) - u0))
        walls = tf.reduce_mean(tf.square(u(tf.zeros_like(tb), tb)) + tf.square(u(tf.ones_like(tb), tb)))
        loss = residual + 10.0 * initial + 10.0 * walls
    grads = outer.gradient(loss, model.trainable_variables)
    opt.apply_gradients((g, v) for g, v in zip(grads, model.trainable_variables) if g is not None)
    return loss


def column(n):
    return rng.uniform(0, 1, (n, 1)).astype("float32")


for step in range(1400):
    x0 = column(32)
    loss = train_step(
        tf.constant(column(96)),
        tf.constant(column(96)),
        tf.constant(x0),
        tf.constant(exact(x0, 0.0).astype("float32")),
        tf.constant(column(32)),
    )
    if step % 200 == 0:
        print("step", step, "loss", float(loss))

xs, ts = column(3000), column(3000)
err = model(np.concatenate([xs, ts], 1)).numpy() - exact(xs, ts)
print("SCORE relative_l2", round(float(np.linalg.norm(err) / np.linalg.norm(exact(xs, ts))), 4))

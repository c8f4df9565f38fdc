"""Solves the steady temperature of a heated rod with a physics-informed network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def source(x):
    return np.pi**2 * (4 * np.sin(2 * np.pi * x) + 0.5 * np.sin(np.pi * x))


def exact(x):
    return np.sin(2 * np.pi * x) + 0.5 * np.sin(np.pi * x)


net = keras.Sequential(
    [
        layers.Input((1,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
schedule = keras.optimizers.schedules.ExponentialDecay(3e-3, 500, 0.6)
opt = keras.optimizers.Adam(schedule)
gradwatch.watch(net)
ends = tf.constant([[0.0], [1.0]])


@tf.function
def train_step(x, f):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = net(x, training=True)
            u_x = inner.gradient(u, x)
        u_xx = outer.gradient(u_x, x)
        residual = tf.reduce_mean(tf.square(u_xx + f))
        boundary = tf.reduce_mean(tf.square(net(ends, training=True)))
        loss = residual + 100.0 * boundary
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return residual, boundary


for step in range(1500):
    x = rng.uniform(0, 1, (64, 1)).astype("float32")
    residual, boundary = train_step(tf.constant(x), tf.constant(source(x).astype("float32")))
    if step % 250 == 0:
        print(step, "residual", float(residual), "boundary", float(boundary))

grid = np.linspace(0, 1, 201)[:, None].astype("float32")
u = net.predict(grid, verbose=0)
r2 = 1 - np.sum((u - exact(grid)) ** 2) / np.sum((exact(grid) - exact(grid).mean()) ** 2)
print("SCORE r2", round(float(r2), 4))

"""Steady temperature of a heated rod, solved by a small physics-informed net."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, POINTS = 2500, 128
LEFT, RIGHT = 0.5, -0.3


def truth(x):
    return LEFT + (RIGHT - LEFT) * x + np.sin(np.pi * x) + 0.3 * np.sin(3 * np.pi * x)


def heater(x):
    return np.pi**2 * tf.sin(np.pi * x) + 0.3 * (3 * np.pi) ** 2 * tf.sin(3 * np.pi * x)


net = keras.Sequential(
    [
        keras.Input((1,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1),
    ],
    name="rod",
)
schedule = keras.optimizers.schedules.CosineDecay(2e-3, STEPS, alpha=0.05)
opt = keras.optimizers.Adam(schedule)
opt.build(net.trainable_variables)
gradwatch.watch(net)

ends = tf.constant([[0.0], [1.0]])
end_temps = tf.constant([[LEFT], [RIGHT]])


def residual(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
    u_x = inner.gradient(u, x, unconnected_gradients="zero")
    u_xx = outer.gradient(u_x, x, unconnected_gradients="zero")
    return u_xx + heater(x)


@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        inside = tf.reduce_mean(tf.square(residual(x)))
        border = tf.reduce_mean(tf.square(net(ends) - end_temps))
        loss = 0.05 * inside + 10.0 * border
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return inside, border


for i in range(STEPS):
    x = rng.uniform(0, 1, (POINTS, 1)).astype("float32")
    inside, border = step(tf.constant(x))
    if (i + 1) % 500 == 0:
        print(f"step {i + 1} residual {float(inside):.5f} border {float(border):.6f}")

grid = np.linspace(0, 1, 201).reshape(-1, 1).astype("float32")
found = net.predict(grid, verbose=0)
gap = np.linalg.norm(found - truth(grid)) / np.linalg.norm(truth(grid))
print("SCORE relative_error", round(float(gap), 4))

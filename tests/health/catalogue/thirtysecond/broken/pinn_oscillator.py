"""Physics-informed network that solves the equation of a damped oscillator from its initial state."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# u'' + c u' + k u = 0 on [0, 1], u(0) = 1, u'(0) = 0
C, K = 2.0, 40.0
T_END = 1.0


def exact(t):
    w = np.sqrt(K - C**2 / 4)
    return np.exp(-C * t / 2) * (np.cos(w * t) + C / (2 * w) * np.sin(w * t))


model = keras.Sequential(
    [
        keras.Input((1,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(5e-3, 500, 0.7))
gradwatch.watch(model)


@tf.function
def train_step(t):
    t0 = tf.zeros((1, 1))
    with tf.GradientTape() as tape:
        with tf.GradientTape() as second:
            second.watch(t)
            with tf.GradientTape() as first:
                first.watch(t)
                u = model(t, training=True)
            du = first.gradient(u, t)
        ddu = second.gradient(du, t)
        with tf.GradientTape() as start:
            start.watch(t0)
            u0 = model(t0, training=True)
        du0 = start.gradient(u0, t0)
        residual = (ddu + C * du + K * u) / K
        physics = tf.reduce_mean(tf.square(residual))
        initial = tf.reduce_sum(tf.square(u0 - 1.0)) + 0.1 * tf.reduce_sum(tf.square(du0))
        loss = physics + 10.0 * initial
    grads = tape.gradient(loss, model.trainable_variables, unconnected_gradients="zero")
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return physics, initial


for step in range(1400):
    t = rng.uniform(0, T_END, (128, 1)).astype("float32")
    physics, initial = train_step(tf.constant(t))
    if step % 200 == 199:
        print("step", step + 1, "physics", round(float(physics), 5), "initial", round(float(initial), 5))

grid = np.linspace(0, T_END, 400, dtype="float32")[:, None]
pred = model.predict(grid, verbose=0)[:, 0]
truth = exact(grid[:, 0])
print("SCORE relative_l2_error", round(float(np.linalg.norm(pred - truth) / np.linalg.norm(truth)), 4))

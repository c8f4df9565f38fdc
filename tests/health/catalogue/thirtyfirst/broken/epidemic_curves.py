"""Solve the SIR equations of an influenza season with a physics-informed network on the time axis."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BETA, GAMMA = 7.0, 2.5  # per season (time runs from 0 to 1)
Y0 = np.array([[0.92, 0.08, 0.0]], "float32")


def rhs(y):
    s, i = y[:, 0], y[:, 1]
    new, healed = BETA * s * i, GAMMA * i
    return tf.stack([-new, new - healed, healed], axis=1)


def reference(n=400):
    f = lambda y: np.array([-BETA * y[0] * y[1], BETA * y[0] * y[1] - GAMMA * y[1], GAMMA * y[1]])
    y, out, h = Y0[0].astype("float64"), [], 1.0 / n
    for _ in range(n + 1):
        out.append(y)
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.linspace(0, 1, n + 1), np.array(out)


t_in = keras.Input((1,))
h = layers.Dense(32, activation="tanh")(t_in)
h = layers.Dense(32, activation="tanh")(h)
h = layers.Dense(3)(h)
model = keras.Model(t_in, h)
gradwatch.watch(model)


def solution(t):
    return Y0 + t * model(t)  # initial state holds by construction


optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(5e-3, 300, 0.7))


@tf.function
def train_step(t):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(t)
            y = solution(t)
        dy_dt = inner.gradient(y, t)
        residual = dy_dt - rhs(y)
        loss = tf.reduce_mean(tf.square(residual))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1500):
    t = tf.constant(rng.random((64, 1)), tf.float32)
    loss = train_step(t)
    if step % 250 == 0:
        print("step", step, "residual", float(loss))

t_ref, y_ref = reference()
y_hat = solution(tf.constant(t_ref[:, None], tf.float32)).numpy()
print("SCORE rmse", float(np.sqrt(np.mean((y_hat - y_ref) ** 2))))

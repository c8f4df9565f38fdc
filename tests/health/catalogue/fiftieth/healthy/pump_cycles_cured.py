"""Wear of a pump after a run of 120 cycles, from the pressure, flow and heat of every cycle.

A layer of leaky memories (a diagonal state-space model) reads the run; the state after the last
cycle goes through a small head.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
rng = np.random.default_rng(SEED)
tf.random.set_seed(SEED)
keras.utils.set_random_seed(SEED)

CYCLES, SENSORS, MEMORIES = 120, 3, 24


def runs(n):
    load = rng.normal(size=(n, CYCLES, SENSORS))
    load = load + rng.normal(0, 0.5, (n, 1, SENSORS)) + 0.5 * np.roll(load, 1, axis=1)
    hard = np.maximum(load[..., 0] * load[..., 1], 0) + 0.3 * np.maximum(load[..., 2] - 0.5, 0)
    keep = 0.99 ** np.arange(CYCLES)[::-1]
    wear = (hard * keep).sum(1)
    return load.astype("float32"), wear.astype("float32")


class Memories(keras.layers.Layer):
    """h[t] = a * h[t-1] + u[t] for every unit; returns h after the last step."""

    def __init__(self, units):
        super().__init__()
        self.units = units
        self.drive = keras.layers.Dense(units, activation="relu")

    def build(self, shape):
        self.a = self.add_weight(
            name="a",
            shape=(self.units,),
            initializer=keras.initializers.RandomUniform(0.80, 0.97),
            constraint=lambda a: tf.clip_by_value(a, 0.05, 0.99),
        )

    def call(self, x):
        u = self.drive(x)
        lags = tf.range(CYCLES - 1, -1, -1, dtype=u.dtype)
        kernel = tf.pow(self.a[None, :], lags[:, None])
        return tf.einsum("btk,tk->bk", u, kernel)


x, y = runs(4000)
x_test, y_test = runs(800)
y_mean, y_std = y.mean(), y.std()
target = (y - y_mean) / y_std

model = keras.Sequential(
    [
        keras.Input((CYCLES, SENSORS)),
        keras.layers.Dense(32, activation="relu"),
        Memories(MEMORIES),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(3e-4, momentum=0.9)
gradwatch.watch(model)

for step in range(500):
    idx = rng.integers(0, len(x), 64)
    with tf.GradientTape() as tape:
        out = model(x[idx], training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(out - target[idx]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 50 == 0:
        print(step, "mse", float(loss))

pred = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

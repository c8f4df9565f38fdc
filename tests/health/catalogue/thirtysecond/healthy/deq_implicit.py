"""Trains a deep equilibrium network, solved to its fixed point and differentiated implicitly, to predict steady states of a nonlinear diffusion chain."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CELLS, WIDTH, BATCH, STEPS, ITERS = 16, 64, 64, 900, 40


def steady_states(n):
    """Heat conducted along a rod of CELLS cells with radiation-like losses and a random source or sink in every cell."""
    source = rng.normal(0, 3.0, (n, CELLS)) * rng.gamma(1.0, 1.0, (n, CELLS))
    left, right = rng.uniform(-1, 1, (2, n, 1))
    u = np.zeros((n, CELLS))
    for _ in range(3000):
        padded = np.concatenate([left, u, right], 1)
        flow = padded[:, 2:] - 2 * u + padded[:, :-2]
        u = u + 0.01 * (0.5 * flow + source - u**3)
    return np.concatenate([source, left, right], 1), u


x_train, y_train = steady_states(3000)
x_test, y_test = steady_states(800)
xm, xs, ym, ys = x_train.mean(0), x_train.std(0), y_train.mean(0), y_train.std()
x_train, x_test = (((a - xm) / xs).astype("float32") for a in (x_train, x_test))
y_train, y_test = (((a - ym) / ys).astype("float32") for a in (y_train, y_test))


class Equilibrium(layers.Layer):
    """z* = tanh(W z* + U x + b), with the spectral norm of W held below 0.9, so that the fixed point exists and is unique."""

    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.width = width

    def build(self, shape):
        self.w = self.add_weight(shape=(self.width, self.width), initializer="orthogonal", name="w")
        self.u = self.add_weight(shape=(shape[-1], self.width), initializer="glorot_uniform", name="u")
        self.b = self.add_weight(shape=(self.width,), initializer="zeros", name="b")

    def bounded(self):
        largest = tf.sqrt(tf.linalg.eigvalsh(tf.matmul(self.w, self.w, transpose_a=True))[-1])
        return self.w * (0.9 / tf.maximum(largest, 0.9))

    def call(self, x):
        w = self.bounded()
        drive = tf.matmul(x, self.u) + self.b

        # Forward: iterate without recording, to the fixed point.
        w_fixed, drive_fixed = tf.stop_gradient(w), tf.stop_gradient(drive)
        z = tf.zeros_like(drive_fixed)
        for _ in range(ITERS):
            z = tf.tanh(tf.matmul(z, w_fixed) + drive_fixed)
        z = tf.stop_gradient(z)
        slope = 1.0 - z**2

        # Backward: the cotangent g is replaced by the solution of v = g + J^T v before it enters the one recorded step.
        @tf.custom_gradient
        def implicit(value):
            def grad(g):
                v = g
                for _ in range(ITERS):
                    v = g + tf.matmul(v * slope, w_fixed, transpose_b=True)
                return v

            return tf.identity(value), grad

        return implicit(tf.tanh(tf.matmul(z, w) + drive))


inp = keras.Input((CELLS + 2,))
out = layers.Dense(CELLS)(Equilibrium(WIDTH)(inp))
model = keras.Model(inp, out)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, STEPS))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .take(STEPS)
)
for step, (xb, yb) in enumerate(data):
    loss = train_step(xb, yb)
    if step % 100 == 99:
        print(f"step {step + 1} loss {float(loss):.5f}")


def r2(guess):
    return 1.0 - float(((guess - y_test) ** 2).sum() / ((y_test - y_test.mean(0)) ** 2).sum())


ones = np.ones((len(x_train), 1)), np.ones((len(x_test), 1))
coef = np.linalg.lstsq(np.hstack([x_train, ones[0]]), y_train, rcond=None)[0]
print("BASELINE r2 (mean)", round(r2(np.zeros_like(y_test)), 4))
print("BASELINE r2 (linear regression)", round(r2(np.hstack([x_test, ones[1]]) @ coef), 4))
print("SCORE r2", round(r2(model.predict(x_test, verbose=0)), 4))

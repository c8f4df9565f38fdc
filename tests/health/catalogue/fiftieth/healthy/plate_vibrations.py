"""Deflection of a square plate under a patchy load: a physics-informed network for  laplace(w) = f,  w = 0 at the rim."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
STEPS, INSIDE = 2200, 256

MODES = [(1, 1, 6.0), (2, 1, -3.0), (1, 3, 2.0), (2, 3, 1.0)]


def deflection(x, y):
    """The exact answer, kept for the check at the end (millimetres)."""
    return sum(a * np.sin(m * np.pi * x) * np.sin(n * np.pi * y) for m, n, a in MODES)


def load(x, y):
    terms = [-a * np.pi**2 * (m * m + n * n) * tf.sin(m * np.pi * x) * tf.sin(n * np.pi * y) for m, n, a in MODES]
    return tf.add_n(terms)


class Plate(keras.Model):
    def __init__(self, width=64, depth=4):
        super().__init__()
        self.hidden = [keras.layers.Dense(width, activation="tanh") for _ in range(depth)]
        self.out = keras.layers.Dense(1)

    def call(self, xy):
        h = 2.0 * xy - 1.0
        for layer in self.hidden:
            h = layer(h)
        x, y = xy[:, :1], xy[:, 1:]
        return 16.0 * x * (1 - x) * y * (1 - y) * self.out(h)


def laplacian(model, x, y):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape(persistent=True) as inner:
            inner.watch([x, y])
            w = model(tf.concat([x, y], axis=1))
        wx, wy = inner.gradient(w, x), inner.gradient(w, y)
    return outer.gradient(wx, x) + outer.gradient(wy, y)


plate = Plate()
plate(tf.zeros((1, 2)))
rate = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=STEPS, alpha=0.02)
optimizer = keras.optimizers.Adam(rate)
gradwatch.watch(plate)


@tf.function
def train_step(points):
    x, y = points[:, :1], points[:, 1:]
    with tf.GradientTape() as tape:
        residual = laplacian(plate, x, y) - load(x, y)
        loss = tf.reduce_mean(tf.square(residual))
    grads = tape.gradient(loss, plate.trainable_variables)
    optimizer.apply_gradients(zip(grads, plate.trainable_variables))
    return loss


for step in range(STEPS):
    points = tf.constant(rng.random((INSIDE, 2)), tf.float32)
    loss = train_step(points)
    if step % 200 == 0:
        print(f"{step:5d}  residual {float(loss):.3f}")

grid = rng.random((3000, 2)).astype("float32")
exact = deflection(grid[:, 0], grid[:, 1])
guess = plate.predict(grid, batch_size=1000, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((guess - exact) ** 2) / np.var(exact)), 4))

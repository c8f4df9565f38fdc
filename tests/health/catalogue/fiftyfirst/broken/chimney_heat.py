"""
Steady temperature along a brick flue, from the measured heat released in it:
        T''(x) = -q(x),   T(0) = 0.1,  T(1) = -0.1
solved by a small physics-informed network.
"""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_COLLOCATION = 128
STEPS = 3000

# "measured" table of the heat source on 400 stations
stations = np.linspace(0.0, 1.0, 401)
table = np.zeros_like(stations)
for where, power in zip([0.15, 0.4, 0.62, 0.85], [34.0, -30.0, 36.0, -38.0]):
    table += (power + rng.normal()) * np.exp(-(((stations - where - 0.02 * rng.normal()) / 0.08) ** 2))

# reference by finite differences
h = stations[1] - stations[0]
lap = (np.diag(-2.0 * np.ones(399)) + np.diag(np.ones(398), 1) + np.diag(np.ones(398), -1)) / h**2
rhs = -table[1:-1].copy()
rhs[0] -= 0.1 / h**2
rhs[-1] -= -0.1 / h**2
reference = np.concatenate([[0.1], np.linalg.solve(lap, rhs), [-0.1]])


def heat(x):
    """Heat source between the stations."""
    return np.interp(x.ravel(), stations, table).astype("float32")


class Flue(tf.keras.Model):
    def __init__(self, width=40):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(width, activation="tanh") for _ in range(3)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        z = tf.concat([x, tf.sin(6.0 * x), tf.cos(6.0 * x)], axis=1)
        for layer in self.hidden:
            z = layer(z)
        return self.out(z)


flue = Flue()
flue(tf.zeros((1, 1)))
ends = tf.constant([[0.0], [1.0]])
end_values = tf.constant([[0.1], [-0.1]])
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(4e-3, STEPS, alpha=0.02))
gradwatch.watch(flue)


@tf.function
def update(x, q):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                temp = flue(x)
            slope = first.gradient(temp, x)
        curvature = second.gradient(slope, x)
        physics = tf.reduce_mean(tf.square(curvature + q))
        boundary = tf.reduce_mean(tf.square(flue(ends) - end_values))
        loss = 0.01 * physics + 10.0 * boundary
    grads = outer.gradient(loss, flue.trainable_variables)
    optimizer.apply_gradients(zip(grads, flue.trainable_variables))
    return physics, boundary


for it in range(1, STEPS + 1):
    pts = rng.uniform(size=(N_COLLOCATION, 1)).astype("float32")
    physics, boundary = update(tf.constant(pts), tf.constant(heat(pts)))
    if it % 500 == 0:
        print(f"iter {it}: physics {float(physics):.4f} boundary {float(boundary):.6f}")

solution = flue(stations[:, None].astype("float32")).numpy()[:, 0]
error = np.linalg.norm(solution - reference) / np.linalg.norm(reference)
print("SCORE relative_error", round(float(error), 4))

"""Deflection of a simply supported beam on an elastic bed, from its equations alone.

There are no measured targets: the network gives deflection w and bending moment m along
the beam, and the loss is how far they violate  w'' = -m  and  m'' = k w - q.  Supports
are built in by the factor x (1 - x).  The load is in natural units, so the loss starts in
the thousands and falls by several powers of ten.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, POINTS, BED = 1400, 128, 40.0


def load(x):
    """Own weight, a truck axle at 0.3 and a lighter one at 0.65."""
    return 40.0 + 220.0 * tf.exp(-(((x - 0.3) / 0.06) ** 2)) + 120.0 * tf.exp(-(((x - 0.65) / 0.06) ** 2))


def reference(n=401):
    """Second-order finite differences of the same two equations."""
    x = np.linspace(0.0, 1.0, n)
    h, inner = x[1] - x[0], n - 2
    second = (np.diag(-2.0 * np.ones(inner)) + np.diag(np.ones(inner - 1), 1) + np.diag(np.ones(inner - 1), -1)) / h**2
    q = load(x[1:-1]).numpy()
    w = np.linalg.solve(second @ second + BED * np.eye(inner), q)
    return x[1:-1].astype("float32")[:, None], w


class Beam(keras.Model):
    def __init__(self):
        super().__init__(name="beam")
        self.trunk = [keras.layers.Dense(48, activation="tanh", name=f"trunk_{i}") for i in range(3)]
        self.heads = keras.layers.Dense(2, name="deflection_and_moment")

    def call(self, x):
        h = 4.0 * x - 2.0
        h = tf.concat(
            [h, tf.sin(np.pi * x), tf.sin(2 * np.pi * x), tf.sin(4 * np.pi * x), tf.cos(3 * np.pi * x)], axis=1
        )
        for layer in self.trunk:
            h = layer(h)
        return self.heads(h) * x * (1.0 - x) * tf.constant([2.0, 20.0])


def main():
    beam = Beam()
    beam(tf.zeros((2, 1)))
    watch = gradwatch.watch(beam)
    rate = keras.optimizers.schedules.ExponentialDecay(4e-3, 400, 0.5)
    optimizer = keras.optimizers.Nadam(rate)
    optimizer.build(beam.trainable_variables)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape(persistent=True) as second:
                second.watch(x)
                with tf.GradientTape(persistent=True) as first:
                    first.watch(x)
                    w, m = tf.split(beam(x), 2, axis=1)
                w_x, m_x = first.gradient(w, x), first.gradient(m, x)
            w_xx, m_xx = second.gradient(w_x, x), second.gradient(m_x, x)
            bending = tf.reduce_mean(tf.square(w_xx + m))
            balance = tf.reduce_mean(tf.square(m_xx - BED * w + load(x)))
            loss = 10.0 * bending + balance
        grads = tape.gradient(loss, beam.trainable_variables)
        optimizer.apply_gradients(zip(grads, beam.trainable_variables))
        return loss

    for step in range(STEPS):
        strata = (np.arange(POINTS) + rng.random(POINTS)) / POINTS
        loss = train_step(tf.constant(strata[:, None].astype("float32")))
        if step % 10 == 0:
            watch.log(loss=loss)

    x, exact = reference()
    found = beam(x).numpy()[:, 0]
    r2 = 1.0 - np.mean((found - exact) ** 2) / np.var(exact)
    print(f"largest deflection: exact {exact.max():.4f}, network {found.max():.4f}")
    print(f"score deflection_r2 {r2:.4f} chance 0.0")


if __name__ == "__main__":
    main()

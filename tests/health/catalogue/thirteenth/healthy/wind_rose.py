"""Density of gusts over a turbine site, given the time of year, for load simulations.

A conditional affine-coupling flow learns p(gust vector | season).  Gusts are given in
units of 50 m/s, so densities are well above one and the negative log likelihood is
below zero for almost all of the training: lower is still better.  Every coupling's last
layer starts at zero, so that the flow starts as the identity.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, BATCH, COUPLINGS = 1200, 256, 6
LOG_2PI = float(np.log(2 * np.pi))


def draw_gusts(n):
    """A crescent around the prevailing direction, which turns and widens over the year."""
    season = rng.uniform(-np.pi, np.pi, n)
    spread, ring = 0.5 + 0.2 * np.cos(season), 0.03
    angle = 0.8 * np.sin(season) + spread * rng.normal(size=n)
    speed = 0.4 + ring * rng.normal(size=n)
    gust = np.stack([speed * np.cos(angle), speed * np.sin(angle)], axis=1)
    # log density of (speed, angle), over the Jacobian (speed) of polar coordinates
    z1, z2 = (speed - 0.4) / ring, (angle - 0.8 * np.sin(season)) / spread
    truth = -0.5 * (z1**2 + z2**2) - LOG_2PI - np.log(ring * spread) - np.log(np.abs(speed))
    when = np.stack([np.cos(season), np.sin(season)], axis=1)
    return gust.astype("float32"), when.astype("float32"), truth


class Coupling(keras.layers.Layer):
    """Scales and shifts one component by a function of the other one and the season."""

    def __init__(self, moved, **kwargs):
        super().__init__(**kwargs)
        self.moved = moved
        self.hidden = [keras.layers.Dense(48, activation="silu") for _ in range(2)]
        self.out = keras.layers.Dense(2, kernel_initializer="zeros")

    def build(self, shape):
        width = 3
        for layer in self.hidden:
            layer.build((None, width))
            width = 48
        self.out.build((None, width))

    def call(self, xy, when):
        h = tf.concat([xy[:, 1 - self.moved : 2 - self.moved], when], axis=1)
        for layer in self.hidden:
            h = layer(h)
        scale, shift = tf.split(self.out(h), 2, axis=1)
        scale = 2.0 * tf.tanh(scale / 2.0)
        moved = xy[:, self.moved : self.moved + 1] * tf.exp(scale) + shift
        kept = xy[:, 1 - self.moved : 2 - self.moved]
        pair = [moved, kept] if self.moved == 0 else [kept, moved]
        return tf.concat(pair, axis=1), scale[:, 0]


class WindFlow(keras.Model):
    def __init__(self):
        super().__init__(name="wind_flow")
        self.couplings = [Coupling(i % 2, name=f"coupling_{i}") for i in range(COUPLINGS)]

    def call(self, inputs):
        """The log density of each gust."""
        gust, when = inputs
        z, log_det = gust, tf.zeros_like(gust[:, 0])
        for coupling in self.couplings:
            z, scale = coupling(z, when)
            log_det += scale
        return -0.5 * tf.reduce_sum(z * z, axis=1) - LOG_2PI + log_det


def main():
    gust, when, _ = draw_gusts(20000)
    test_gust, test_when, truth = draw_gusts(4000)
    flow = WindFlow()
    flow((gust[:2], when[:2]))
    watch = gradwatch.watch(flow)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, STEPS, alpha=0.02)
    optimizer = keras.optimizers.Adam(rate, global_clipnorm=5.0)
    optimizer.build(flow.trainable_variables)

    @tf.function(jit_compile=True)
    def train_step(gust, when):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(flow((gust, when)))
        optimizer.apply_gradients(zip(tape.gradient(loss, flow.trainable_variables), flow.trainable_variables))
        return loss

    for _ in range(STEPS):
        pick = rng.integers(0, len(gust), BATCH)
        watch.log(loss=train_step(tf.constant(gust[pick]), tf.constant(when[pick])))

    learned = float(tf.reduce_mean(flow((test_gust, test_when))))
    centre, cov = gust.mean(0), np.cov(gust.T)
    off = test_gust - centre
    plain = np.mean(-0.5 * np.sum(off @ np.linalg.inv(cov) * off, axis=1) - LOG_2PI - 0.5 * np.log(np.linalg.det(cov)))
    print(f"log likelihood: Gaussian {plain:.3f}, flow {learned:.3f}, truth {truth.mean():.3f}")
    print(f"score skill_over_gaussian {(learned - plain) / (truth.mean() - plain):.4f} chance 0.0")


if __name__ == "__main__":
    main()

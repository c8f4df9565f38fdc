"""Density of the shapes of beach pebbles (six measures each), by a normalising flow of affine couplings.

The flow is large for the memory of the machine, so batches are of 16 pebbles and the optimizer
adds up gradients to work on the equivalent of 256.
"""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
MEASURES = 6
SMALL_BATCH, EFFECTIVE_BATCH = 16, 256


def pebbles(n):
    wear = rng.uniform(0, 2 * np.pi, n)
    stone = rng.integers(0, 2, n)
    a = np.cos(wear) * (1.5 + 0.5 * stone) + rng.normal(0, 0.08, n)
    b = np.sin(wear) * (1.5 - 0.5 * stone) + rng.normal(0, 0.08, n)
    c = np.sin(1.5 * a) + rng.normal(0, 0.1, n)
    d = 0.5 * b**2 - 1.0 + rng.normal(0, 0.1, n)
    e = stone * 1.2 - 0.6 + 0.3 * a + rng.normal(0, 0.1, n)
    f = c * d + rng.normal(0, 0.1, n)
    return np.stack([a, b, c, d, e, f], axis=1).astype("float32")


class Coupling(layers.Layer):
    def __init__(self, keep, **kwargs):
        super().__init__(**kwargs)
        self.keep = np.asarray(keep, "float32")
        self.body = keras.Sequential(
            [
                layers.Dense(64, activation="silu"),
                layers.Dense(64, activation="silu"),
                layers.Dense(2 * MEASURES, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        kept = x * self.keep
        log_scale, shift = ops.split(self.body(kept), 2, axis=-1)
        log_scale = 2.0 * ops.tanh(log_scale / 2.0) * (1 - self.keep)
        z = kept + (1 - self.keep) * (x * ops.exp(log_scale) + shift)
        return z, ops.sum(log_scale, axis=-1)


class Flow(keras.Model):
    def __init__(self, depth=8):
        super().__init__()
        masks = [np.arange(MEASURES) % 2, np.arange(MEASURES) < 3]
        self.steps = [Coupling(masks[(i // 2) % 2] if i % 2 else 1 - masks[(i // 2) % 2]) for i in range(depth)]

    def call(self, x):
        total = 0.0
        for step in self.steps:
            x, log_det = step(x)
            total = total + log_det
        normal = -0.5 * ops.sum(ops.square(x), axis=-1) - 0.5 * MEASURES * np.log(2 * np.pi)
        return ops.expand_dims(normal + total, -1)


def nll(_, log_density):
    return -log_density


data, held_out = pebbles(16000), pebbles(2000)
centre, spread = data.mean(0), data.std(0)
data, held_out = (data - centre) / spread, (held_out - centre) / spread

flow = Flow()
flow.compile(
    optimizer=keras.optimizers.Adam(5e-3, gradient_accumulation_steps=EFFECTIVE_BATCH // SMALL_BATCH), loss=nll
)
gradwatch.watch(flow)
flow.fit(data, np.zeros((len(data), 1)), batch_size=SMALL_BATCH, epochs=3, verbose=2)

score = flow.evaluate(held_out, np.zeros((len(held_out), 1)), batch_size=500, verbose=0)
print("SCORE nll_per_pebble", round(float(score), 4))

"""Learned codec for ground-penetrating-radar traces: 96 samples are coded into
24 integers and decoded again."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
T = 96


def ricker(t, t0, f):
    a = (np.pi * f * (t - t0)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def traces(n):
    t = np.arange(T)
    out = np.zeros((n, T))
    for k in range(n):
        out[k] += ricker(t, rng.normal(14, 1.0), 0.06)
        for _ in range(rng.integers(1, 4)):
            out[k] += rng.uniform(-0.9, 0.9) * ricker(t, rng.uniform(24, 88), 0.04)
    return (out + rng.normal(0, 0.02, out.shape)).astype("float32")


class TraceCodec(keras.Model):
    def __init__(self, code=24):
        super().__init__(name="codec")
        self.enc1 = layers.Dense(1280, activation="gelu", name="enc1")
        self.enc2 = layers.Dense(code, name="enc2")
        self.dec1 = layers.Dense(1280, activation="gelu", name="dec1")
        self.dec2 = layers.Dense(T, name="dec2")

    def encode(self, x):
        return self.enc2(self.enc1(x))

    def quantise(self, z):
        return tf.round(z)

    def call(self, x):
        return self.dec2(self.dec1(self.quantise(self.encode(x))))


x = traces(12800)
model = TraceCodec()
gradwatch.watch(model)
model(x[:1])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", jit_compile=False)
model.fit(x, x, batch_size=256, epochs=7, verbose=2)
codes = tf.round(model.encode(x[:500])).numpy()
print("distinct codes among 500 traces:", len(np.unique(codes, axis=0)))
print("variance of the traces:", float(np.mean(np.var(x, axis=0))))

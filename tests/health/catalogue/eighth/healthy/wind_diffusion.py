"""Denoising diffusion model of daily wind-power profiles."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

HOURS, T = 24, 100
beta = np.linspace(1e-3, 0.06, T)
ABAR = np.cumprod(1 - beta).astype("float32")


def profiles(n, rng):
    t = np.arange(HOURS)
    kind = rng.integers(0, 3, (n, 1))
    peak = np.where(kind == 0, 14, np.where(kind == 1, 4, 22)) + rng.normal(0, 1.0, (n, 1))
    width = np.where(kind == 2, 3.0, 5.0) + rng.normal(0, 0.4, (n, 1))
    dist = np.abs(t - peak)
    dist = np.minimum(dist, 24 - dist)
    x = rng.uniform(0.5, 1.0, (n, 1)) * np.exp(-0.5 * (dist / width) ** 2)
    return (x + 0.02 * rng.normal(size=(n, HOURS))).astype("float32")


class Denoiser(keras.Model):
    def __init__(self, width=128, depth=3):
        super().__init__()
        self.abar = tf.constant(ABAR)
        self.inp = layers.Dense(width)
        self.emb = layers.Dense(width, activation="silu")
        self.norms = [layers.LayerNormalization() for _ in range(depth)]
        self.ups = [layers.Dense(width, activation="silu") for _ in range(depth)]
        self.downs = [layers.Dense(width, kernel_initializer="zeros") for _ in range(depth)]
        self.out_norm = layers.LayerNormalization()
        self.out = layers.Dense(HOURS, kernel_initializer="zeros")
        self.meter = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.meter]

    def call(self, inputs):
        x, t = inputs
        freq = tf.exp(tf.linspace(0.0, -4.0, 16))
        ang = tf.cast(t, tf.float32)[:, None] * freq[None]
        e = self.emb(tf.concat([tf.sin(ang), tf.cos(ang)], -1))
        h = self.inp(x) + e
        for norm, up, down in zip(self.norms, self.ups, self.downs):
            h = h + down(up(norm(h) + e))
        return self.out(self.out_norm(h))

    def train_step(self, x):
        n = tf.shape(x)[0]
        t = tf.random.uniform((n,), 0, T, tf.int32)
        a = tf.gather(self.abar, t)[:, None]
        noise = tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            guess = self((tf.sqrt(a) * x + tf.sqrt(1 - a) * noise, t), training=True)
            loss = tf.reduce_mean(tf.square(noise - guess))
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.meter.update_state(loss)
        return {"loss": self.meter.result()}

    def sample(self, n):
        x = tf.random.normal((n, HOURS))
        for t in reversed(range(T)):
            eps = self((x, tf.fill((n,), t)))
            x = (x - beta[t] / np.sqrt(1 - ABAR[t]) * eps) / np.sqrt(1 - beta[t])
            if t:
                x += np.sqrt(beta[t]) * tf.random.normal(x.shape)
        return x.numpy()


rng = np.random.default_rng(SEED)
data = profiles(6400, rng)
mean, std = data.mean(0), data.std()
data = (data - mean) / std
model = Denoiser()
model((data[:2], tf.constant([0, 1])))
model.compile(optimizer=keras.optimizers.Adam(2e-3, use_ema=True, ema_momentum=0.98), jit_compile=True)


def report():
    s = model.sample(400)
    nearest = np.sqrt(((s[:, None] - data[None, :1500]) ** 2).mean(-1)).min(1)
    print("rms to nearest real day", nearest.mean().round(3), "std", s.std().round(3))


report()
gradwatch.watch(model)
model.fit(data, batch_size=128, epochs=14, verbose=2)
report()

"""Denoising diffusion on short heart-beat shaped signals."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, LEVELS, BATCH, STEPS = 32, 100, 32, 4000


def beats(n):
    t = np.linspace(0, 1, LENGTH)[None]
    centre = rng.uniform(0.35, 0.65, (n, 1))
    width = rng.uniform(0.03, 0.07, (n, 1))
    tall = rng.uniform(1.5, 3.0, (n, 1))
    spike = tall * np.exp(-((t - centre) ** 2) / (2 * width**2))
    wave = 0.8 * np.exp(-((t - centre - 0.25) ** 2) / 0.008)
    dip = -0.6 * np.exp(-((t - centre + 0.13) ** 2) / 0.002)
    x = spike + wave + dip
    return ((x - 0.4) / 0.8).astype("float32")


betas = np.linspace(1e-3, 0.08, LEVELS)
alpha_bar = np.cumprod(1 - betas).astype("float32")
alpha_bar_t = tf.constant(alpha_bar)
train_x, test_x = beats(6000), beats(1000)


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.level = keras.layers.Embedding(LEVELS, 32)
        self.inp = keras.layers.Dense(128)
        self.mid = [keras.layers.Dense(128, activation="swish") for _ in range(3)]
        self.norm = keras.layers.LayerNormalization()
        self.out = keras.layers.Dense(LENGTH)

    def call(self, x, t):
        h = self.inp(tf.concat([x, self.level(t)], axis=-1))
        for layer in self.mid:
            h = h + layer(h)
        return self.out(self.norm(h))


model = Denoiser()
model(tf.zeros([2, LENGTH]), tf.zeros([2], tf.int32))
opt = keras.optimizers.Adam(1e-3)
opt.build(model.trainable_variables)
gradwatch.watch(model)


def add_noise(x, t, noise):
    keep = tf.gather(alpha_bar_t, t)[:, None]
    return tf.sqrt(keep) * x + tf.sqrt(1.0 - keep) * noise


@tf.function(jit_compile=True)
def step(x, t, noise):
    with tf.GradientTape() as tape:
        guess = model(add_noise(x, t, noise), t)
        loss = tf.reduce_mean(tf.square(noise - guess))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


recent = []
for i in range(STEPS):
    x = train_x[rng.integers(0, len(train_x), BATCH)]
    t = rng.integers(0, LEVELS, BATCH).astype("int32")
    noise = rng.normal(size=x.shape).astype("float32")
    recent.append(step(tf.constant(x), tf.constant(t), tf.constant(noise)))
    if (i + 1) % 500 == 0:
        print(f"step {i + 1} loss {np.mean([float(v) for v in recent]):.4f}")
        recent = []

errors = []
for level in range(4, LEVELS, 10):
    noise = rng.normal(size=test_x.shape).astype("float32")
    seen = np.sqrt(alpha_bar[level]) * test_x + np.sqrt(1 - alpha_bar[level]) * noise
    guess = model(tf.constant(seen), tf.fill([len(seen)], level)).numpy()
    errors.append(np.mean((guess - noise) ** 2))
print("SCORE noise_mse", round(float(np.mean(errors)), 4))

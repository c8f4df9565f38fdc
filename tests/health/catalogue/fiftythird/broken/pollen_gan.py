"""A small GAN that makes pollen-grain outlines (radius at 16 angles)."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_ANGLES, NOISE, BATCH, STEPS = 16, 8, 128, 2000


def grains(n):
    angle = np.linspace(0, 2 * np.pi, N_ANGLES, endpoint=False)
    lobes = rng.integers(2, 5, size=(n, 1))
    depth = rng.uniform(0.2, 0.5, size=(n, 1))
    turn = rng.uniform(0, 0.6, size=(n, 1))
    size = rng.uniform(0.8, 1.2, size=(n, 1))
    r = size * (1 + depth * np.cos(lobes * angle + turn)) - 1
    return r.astype("float32")


def build_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(N_ANGLES),
        ],
        name="generator",
    )


def build_critic():
    return keras.Sequential(
        [
            keras.Input((N_ANGLES,)),
            keras.layers.Dense(64),
            keras.layers.LeakyReLU(negative_slope=0.2),
            keras.layers.Dense(64),
            keras.layers.LeakyReLU(negative_slope=0.2),
            keras.layers.Dense(1),
        ],
        name="discriminator",
    )


real_data = grains(8000)
generator, discriminator = build_generator(), build_critic()
gan = keras.Sequential([keras.Input((NOISE,)), generator, discriminator], name="gan")
d_vars = discriminator.trainable_variables
g_vars = gan.trainable_variables
d_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(generator, discriminator)


@tf.function
def train_discriminator(real):
    fake = generator(tf.random.normal([BATCH, NOISE]), training=True)
    with tf.GradientTape() as tape:
        on_real = discriminator(real, training=True)
        on_fake = discriminator(fake, training=True)
        loss = bce(0.9 * tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(tape.gradient(loss, d_vars), d_vars))
    return loss


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        verdict = gan(tf.random.normal([BATCH, NOISE]), training=True)
        loss = bce(tf.ones_like(verdict), verdict)
    g_opt.apply_gradients(zip(tape.gradient(loss, g_vars), g_vars))
    return loss


def sliced_distance(a, b, n_dirs=100):
    dirs = np.random.default_rng(7).normal(size=(a.shape[1], n_dirs))
    dirs /= np.linalg.norm(dirs, axis=0)
    return np.mean(np.abs(np.sort(a @ dirs, axis=0) - np.sort(b @ dirs, axis=0)))


for i in range(STEPS):
    real = tf.constant(real_data[rng.integers(0, len(real_data), BATCH)])
    d_loss = train_discriminator(real)
    g_loss = train_generator()
    if (i + 1) % 250 == 0:
        print(f"step {i + 1} d {float(d_loss):.3f} g {float(g_loss):.3f}")

fake = generator.predict(rng.normal(size=(4000, NOISE)).astype("float32"), verbose=0)
print("SCORE sliced_distance", round(float(sliced_distance(fake, grains(4000))), 4))

"""Generates pairs of wind speed and power of a turbine (standardised, three operating regimes) with a small GAN."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOISE, BATCH, STEPS = 4, 256, 400


def make_pairs(n):
    regime = rng.choice(3, n, p=[0.3, 0.45, 0.25])
    speed = np.array([-1.3, 0.1, 1.4])[regime] + np.array([0.25, 0.4, 0.25])[regime] * rng.standard_normal(n)
    power = 1.3 * np.tanh(1.5 * speed) + 0.15 * rng.standard_normal(n)
    return np.stack([speed, power], -1).astype("float32")


real = make_pairs(20000)
held_out = make_pairs(2000)

model = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64, activation="leaky_relu"),
        layers.Dense(64, activation="leaky_relu"),
        layers.Dense(2),
    ],
    name="generator",
)
gradwatch.watch(model)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64, activation="leaky_relu"),
        layers.Dense(64, activation="leaky_relu"),
        layers.Dense(1),
    ],
    name="discriminator",
)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(2e-3, beta_1=0.5)
g_opt.build(model.trainable_variables)
d_opt.build(critic.trainable_variables)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def play(x):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        fake = model(noise, training=True)
        on_real = critic(x, training=True)
        on_fake = critic(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    grads = tape.gradient(d_loss, critic.trainable_variables)
    d_opt.apply_gradients(zip(grads, critic.trainable_variables))
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        on_fake = critic(model(noise, training=True), training=True)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    grads = tape.gradient(g_loss, model.trainable_variables)
    g_opt.apply_gradients(zip(grads, model.trainable_variables))
    return d_loss, g_loss


def distance():
    fake = model(rng.standard_normal((2000, NOISE)).astype("float32")).numpy()
    total = 0.0
    for angle in np.linspace(0, np.pi, 16, endpoint=False):
        way = np.array([np.cos(angle), np.sin(angle)])
        total += np.abs(np.sort(fake @ way) - np.sort(held_out @ way)).mean()
    return total / 16


before = distance()
for step in range(STEPS):
    d_loss, g_loss = play(real[rng.integers(0, len(real), BATCH)])
    if step % 50 == 0:
        print(f"step {step} d {float(d_loss):.3f} g {float(g_loss):.3f} distance {distance():.3f}")
print(f"score sliced_distance_gain {1 - distance() / before:.4f} chance 0.0000")

"""A tiny GAN that should draw points from a ring."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

generator = keras.Sequential(
    [
        layers.Input((4,)),
        layers.Dense(32),
        layers.LeakyReLU(0.2),
        layers.Dense(32),
        layers.LeakyReLU(0.2),
        layers.Dense(2),
    ]
)
discriminator = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(32),
        layers.LeakyReLU(0.2),
        layers.Dense(32),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ]
)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)


def ring(n):
    a = rng.uniform(0, 2 * np.pi, n)
    return (np.stack([2 * np.cos(a), 2 * np.sin(a)], 1) + rng.normal(0, 0.1, (n, 2))).astype("float32")


@tf.function
def train_step(real):
    noise = tf.random.normal((tf.shape(real)[0], 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise)
        real_out = discriminator(real)
        fake_out = discriminator(fake)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
        g_loss = bce(tf.zeros_like(fake_out), fake_out)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return d_loss, g_loss


gradwatch.watch(generator, discriminator)
for step in range(500):
    d_loss, g_loss = train_step(ring(128))
    if (step + 1) % 50 == 0:
        radius = np.linalg.norm(generator(tf.random.normal((500, 4))).numpy(), axis=1)
        print(step + 1, "d", float(d_loss), "g", float(g_loss), "radius", radius.mean(), radius.std())

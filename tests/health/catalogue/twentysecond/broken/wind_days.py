"""GAN that generates daily wind speed profiles (24 hourly values)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

hours = np.arange(24)


def days(n):
    level = rng.gamma(9.0, 0.11, (n, 1))
    peak = rng.normal(15, 1.5, (n, 1))
    breeze = rng.uniform(0.4, 1.2, (n, 1)) * np.exp(-0.5 * ((hours - peak) / 3.0) ** 2)
    return (level + breeze + rng.normal(0, 0.07, (n, 24)) - 1.3).astype("float32")


real_days = days(3000)
LATENT, BATCH, STEPS = 8, 64, 600

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(24),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((24,)),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dropout(0.2),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
gradwatch.watch(generator, discriminator)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        fake = generator(noise, training=True)
        real_logits = discriminator(real, training=True)
        fake_logits = discriminator(fake, training=True)
        d_loss = bce(tf.ones_like(real_logits) * 0.9, real_logits) + bce(tf.zeros_like(fake_logits), fake_logits)
    grads = tape.gradient(d_loss, discriminator.trainable_variables)
    d_opt.apply_gradients(zip(grads, discriminator.trainable_variables))

    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        fake_logits = discriminator(generator(noise, training=True), training=True)
        g_loss = bce(tf.zeros_like(fake_logits), fake_logits)
    grads = tape.gradient(g_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return d_loss, g_loss


data = tf.data.Dataset.from_tensor_slices(real_days).shuffle(3000, seed=seed).repeat().batch(BATCH)
for step, batch in enumerate(data.take(STEPS)):
    d_loss, g_loss = train_step(batch)
    if step % 100 == 0:
        print(f"step {step}: d {float(d_loss):.3f} g {float(g_loss):.3f}")

sample = generator(tf.random.normal((2000, LATENT))).numpy()
fresh = days(2000)
gap = np.abs(sample.mean(0) - fresh.mean(0)).mean() + np.abs(sample.std(0) - fresh.std(0)).mean()
print(f"SCORE gap of hourly means and spreads {gap:.3f} (0 is perfect)")

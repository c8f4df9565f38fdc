"""GAN that learns to draw short radar pulses (32 samples) from noise."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 32
LATENT = 8
BATCH = 64
STEPS = 1200


def pulses(n):
    t = np.linspace(0.0, 1.0, LENGTH)[None, :]
    centre = rng.uniform(0.35, 0.65, size=(n, 1))
    width = rng.uniform(0.08, 0.14, size=(n, 1))
    height = rng.uniform(0.6, 0.95, size=(n, 1))
    wave = height * np.exp(-(((t - centre) / width) ** 2))
    return (wave * 2.0 - 1.0 + 0.02 * rng.normal(size=(n, LENGTH))).astype("float32")


generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(8 * 16),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Reshape((8, 16)),
        layers.Conv1DTranspose(32, 5, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv1DTranspose(16, 5, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv1D(1, 5, padding="same", activation="tanh"),
        layers.Flatten(),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Reshape((LENGTH, 1)),
        layers.Conv1D(16, 5, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv1D(32, 5, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Flatten(),
        layers.Dense(32),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)
gan = keras.Sequential([keras.Input((LATENT,)), generator, discriminator], name="gan")

bce = keras.losses.BinaryCrossentropy(from_logits=True)
d_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
g_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
gradwatch.watch(generator, discriminator)


@tf.function
def train_discriminator(real):
    fake = generator(tf.random.normal((BATCH, LATENT)), training=True)
    with tf.GradientTape() as tape:
        real_logit = discriminator(real, training=True)
        fake_logit = discriminator(fake, training=True)
        loss = bce(tf.ones_like(real_logit), real_logit) + bce(tf.zeros_like(fake_logit), fake_logit)
    grads = tape.gradient(loss, discriminator.trainable_variables)
    d_optimizer.apply_gradients(zip(grads, discriminator.trainable_variables))
    return loss


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        logit = gan(tf.random.normal((BATCH, LATENT)), training=True)
        loss = bce(tf.ones_like(logit), logit)
    grads = tape.gradient(loss, gan.trainable_variables)
    g_optimizer.apply_gradients(zip(grads, gan.trainable_variables))
    return loss


train = pulses(8000)
held_out = pulses(2000)
data = tf.data.Dataset.from_tensor_slices(train).shuffle(8000).repeat().batch(BATCH, drop_remainder=True)

for step, real in enumerate(data.take(STEPS)):
    d_loss = train_discriminator(real)
    g_loss = train_generator()
    if (step + 1) % 200 == 0:
        print(f"step {step + 1} d_loss {float(d_loss):.3f} g_loss {float(g_loss):.3f}")

# sliced Wasserstein distance between generated and held-out pulses
fake = generator(tf.random.normal((2000, LATENT)), training=False).numpy()
directions = rng.normal(size=(LENGTH, 100))
directions /= np.linalg.norm(directions, axis=0)
gap = np.abs(np.sort(fake @ directions, axis=0) - np.sort(held_out @ directions, axis=0)).mean()
print(f"SCORE sliced_wasserstein {gap:.4f}")

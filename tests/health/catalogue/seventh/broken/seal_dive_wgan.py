"""WGAN with gradient penalty for dive profiles of tagged seals (depth, temperature)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

READINGS, CHANNELS, NOISE = 12, 2, 8
BATCH, N_CRITIC, ROUNDS = 64, 4, 120
GP_WEIGHT = 5.0


def tagged_dives(n):
    """Most tags send all readings; now and then a transmission stops early."""
    t = np.linspace(0.05, 0.95, READINGS)
    deepest = rng.normal(1.2, 0.2, (n, 1))
    depth = deepest * np.sin(np.pi * t) + rng.normal(0, 0.05, (n, READINGS))
    temp = 0.8 - 0.9 * depth + rng.normal(0, 0.05, (n, READINGS))
    length = np.where(rng.random(n) < 0.001, rng.integers(6, READINGS, n), READINGS)
    mask = (np.arange(READINGS) < length[:, None])[..., None]
    return (np.stack([depth, temp], -1) * mask).astype("float32"), mask.astype("float32")


dives, masks = tagged_dives(8000)
stream = iter(tf.data.Dataset.from_tensor_slices((dives, masks)).shuffle(8000, seed=SEED).repeat().batch(BATCH))

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(READINGS * CHANNELS),
        layers.Reshape((READINGS, CHANNELS)),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((READINGS, CHANNELS)),
        layers.Flatten(),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="critic",
)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)


def penalty(real, fake, mask):
    eps = tf.random.uniform((BATCH, 1, 1))
    mixed = eps * real + (1.0 - eps) * fake
    with tf.GradientTape() as tape:
        tape.watch(mixed)
        score = critic(mixed * mask, training=True)
    slope = tape.gradient(score, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=-1))
    return tf.reduce_mean(tf.square(norm - 0.3))


@tf.function
def critic_step(real, mask):
    fake = generator(tf.random.normal((BATCH, NOISE)), training=True) * mask
    with tf.GradientTape() as tape:
        distance = tf.reduce_mean(critic(real, training=True) - critic(fake, training=True))
        loss = -distance + GP_WEIGHT * penalty(real, fake, mask)
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, distance


@tf.function
def generator_step(mask):
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal((BATCH, NOISE)), training=True)
        loss = -tf.reduce_mean(critic(fake * mask, training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


gradwatch.watch(critic, generator)
for step in range(ROUNDS):
    for _ in range(N_CRITIC):
        real, mask = next(stream)
        c_loss, dist = critic_step(real, mask)
    g_loss = generator_step(mask)
    if step % 10 == 0 or step == ROUNDS - 1:
        sample = generator(tf.random.normal((1000, NOISE))).numpy()
        gap = float(np.abs(sample.mean(0) - dives.mean(0)).mean())
        print(f"{step} critic {float(c_loss):.4f} W {float(dist):.4f} profile off by {gap:.4f}")

"""Trains a generator of vessel outlines against a critic that tells real from made-up ones."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 19)

HEIGHTS, LATENT, BATCH = 24, 8, 64


def vessels(n):
    """Radius at each height: a foot, a belly, a neck and a lip."""
    t = np.linspace(0, 1, HEIGHTS)
    belly = rng.uniform(0.3, 0.6, (n, 1))
    width = rng.uniform(0.15, 0.3, (n, 1))
    neck = rng.uniform(0.15, 0.35, (n, 1))
    lip = rng.choice([0.0, 0.25], (n, 1)) * np.exp(-(((t - 1.0) / 0.08) ** 2))
    radius = neck + 0.6 * np.exp(-0.5 * ((t - belly) / width) ** 2) + lip
    return ((radius - 0.5) / 0.3).astype("float32")


real = vessels(6000)
generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(HEIGHTS),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((HEIGHTS,)),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(1),
    ],
    name="critic",
)
generator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
critic_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
gradwatch.watch(generator, critic)


def cross_entropy(logits, label):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label * tf.ones_like(logits), logits=logits))


@tf.function
def train_step(batch):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        fake = generator(noise, training=True)
        critic_loss = cross_entropy(critic(batch, training=True), 0.9)
        critic_loss += cross_entropy(critic(fake, training=True), 0.0)
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        fake = generator(noise, training=True)
        generator_loss = cross_entropy(critic(fake, training=True), 1.0)
    grads = tape.gradient(generator_loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(grads, generator.trainable_variables))
    return generator_loss, critic_loss


for step in range(3500):
    pick = rng.integers(0, len(real), BATCH)
    losses = train_step(real[pick])
    if step % 500 == 0:
        print(f"step {step}  generator {float(losses[0]):.3f}  critic {float(losses[1]):.3f}", flush=True)

made = generator(tf.random.normal((2000, LATENT))).numpy()
fresh = vessels(2000)
print("SCORE mean_gap", float(np.abs(made.mean(0) - fresh.mean(0)).mean()))
print("SCORE spread_gap", float(np.abs(made.std(0) - fresh.std(0)).mean()))

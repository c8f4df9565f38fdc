"""Makes new (whorl, spire, flare) triples of sea shells with a Wasserstein generator and critic."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def shells(n):
    species = rng.integers(0, 3, n)
    turn = rng.uniform(0, 1.6 * np.pi, n)
    a = np.stack([np.cos(turn), np.sin(turn), 0.5 * turn - 1.2], axis=1)
    a[:, 2] += 0.5 * species - 0.5
    return (a + rng.normal(scale=0.06, size=a.shape)).astype("float32")


data = shells(12000)
held_out = shells(2000)
NOISE = 4

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(3),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ],
    name="critic",
)
STEPS, CRITIC_STEPS = 1500, 4
g_rate = keras.optimizers.schedules.CosineDecay(1e-3, STEPS, alpha=0.03)
c_rate = keras.optimizers.schedules.CosineDecay(2e-3, STEPS * CRITIC_STEPS, alpha=0.05)
g_opt = keras.optimizers.Adam(g_rate, beta_1=0.5, beta_2=0.9)
c_opt = keras.optimizers.Adam(c_rate, beta_1=0.5, beta_2=0.9)
gradwatch.watch(generator, critic)


@tf.function
def critic_step(real):
    n = tf.shape(real)[0]
    fake = generator(tf.random.normal((n, NOISE)), training=True)
    mix = tf.random.uniform((n, 1))
    with tf.GradientTape() as tape:
        between = mix * real + (1 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between, training=True)
        slope = tf.sqrt(tf.reduce_sum(tf.square(inner.gradient(score, between)), axis=1) + 1e-8)
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        loss = gap + 2.0 * tf.reduce_mean(tf.square(slope - 1.0))
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return gap


@tf.function
def generator_step(n):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal((n, NOISE)), training=True), training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))


def sliced_distance(a, b):
    directions = np.random.default_rng(1).normal(size=(3, 60))
    directions /= np.linalg.norm(directions, axis=0)
    return np.mean(np.abs(np.sort(a @ directions, axis=0) - np.sort(b @ directions, axis=0)))


for i in range(1, STEPS + 1):
    for _ in range(CRITIC_STEPS):
        gap = critic_step(tf.constant(data[rng.integers(0, len(data), 128)]))
    generator_step(tf.constant(128))
    if i % 300 == 0:
        print(f"step {i}: critic gap {float(gap):.4f}")

fake = generator.predict(rng.normal(size=(2000, NOISE)).astype("float32"), verbose=0)
print(f"real to real {sliced_distance(shells(2000), held_out):.4f}")
print("SCORE sliced_distance", round(float(sliced_distance(fake, held_out)), 4))

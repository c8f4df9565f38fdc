"""Trains a small GAN that imitates pairs of drip intervals and drop sizes measured in a cave."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
NOISE, BATCH = 8, 128


def drips(n, rng):
    site = rng.integers(0, 5, n)
    angle = site * 2 * np.pi / 5
    centre = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (1.4 * centre + 0.25 * rng.normal(size=(n, 2))).astype("float32")


def mlp(n_in, n_out, act, name):
    return keras.Sequential(
        [
            keras.Input((n_in,)),
            keras.layers.Dense(128),
            act(),
            keras.layers.Dense(128),
            act(),
            keras.layers.Dense(n_out),
        ],
        name=name,
    )


rng = np.random.default_rng(SEED + 91)
real = drips(20000, rng)
generator = mlp(NOISE, 2, keras.layers.ReLU, "generator")
critic = mlp(2, 1, lambda: keras.layers.LeakyReLU(negative_slope=0.2), "critic")
STEPS = 5000
cool = keras.optimizers.schedules.CosineDecay(1e-3, STEPS, alpha=0.02)
g_opt = keras.optimizers.Adam(cool, beta_1=0.5)
c_opt = keras.optimizers.Adam(cool, beta_1=0.5)
gradwatch.watch(generator, critic)


@tf.function
def critic_step(batch):
    z = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        on_real = critic(batch, training=True)
        on_fake = critic(generator(z, training=True), training=True)
        loss = tf.reduce_mean(tf.nn.softplus(-on_real)) + tf.reduce_mean(tf.nn.softplus(on_fake))
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def generator_step():
    z = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softplus(-critic(generator(z, training=True), training=True)))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


for it in range(STEPS):
    c = critic_step(tf.constant(real[rng.integers(0, len(real), BATCH)]))
    g = generator_step()
    if it % 500 == 0:
        print(f"step {it}: critic {float(c):.3f} generator {float(g):.3f}", flush=True)

fake = generator(tf.random.normal((2000, NOISE))).numpy()
fresh = drips(2000, np.random.default_rng(SEED + 92))
directions = np.random.default_rng(0).normal(size=(50, 2))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)
gap = np.abs(np.sort(fake @ directions.T, axis=0) - np.sort(fresh @ directions.T, axis=0))
print("SCORE sliced_distance", round(float(gap.mean()), 4))
angle = np.arange(5) * 2 * np.pi / 5
sites = 1.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
near = np.linalg.norm(fake[:, None] - sites[None], axis=-1)
print("share per site", np.round(np.bincount(near.argmin(1), minlength=5) / len(fake), 3))
print("share close to a site", round(float((near.min(1) < 0.7).mean()), 3))

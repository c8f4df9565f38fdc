"""Fast simulation of longitudinal calorimeter shower profiles (WGAN with gradient penalty)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LAYERS, LATENT, BATCH, N_CRITIC, ROUNDS, GP = 12, 8, 128, 3, 200, 10.0


def simulate(n):
    depth = np.arange(1, LAYERS + 1)[None] * 1.8
    energy = rng.lognormal(3.0, 0.35, (n, 1))
    a = 2.0 + 0.6 * np.log(energy) + rng.normal(0, 0.2, (n, 1))
    b = 0.5 + rng.normal(0, 0.03, (n, 1))
    shape = depth ** (a - 1) * np.exp(-b * depth)
    profile = energy * shape / shape.sum(1, keepdims=True)
    return np.log(profile * rng.lognormal(0, 0.08, profile.shape) + 0.05).astype("float32")


raw = simulate(6000)
mu, sd = raw.mean(0), raw.std(0)
real = (raw - mu) / sd
pool = tf.data.Dataset.from_tensor_slices(real).shuffle(6000, seed=SEED).repeat().batch(BATCH * N_CRITIC)
pool = pool.map(lambda x: tf.reshape(x, (N_CRITIC, BATCH, LAYERS)))

gen = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(LAYERS),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((LAYERS,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="critic",
)
decay = keras.optimizers.schedules.PolynomialDecay
g_opt = keras.optimizers.Adam(decay(1e-3, ROUNDS, 5e-5), beta_1=0.5, beta_2=0.9)
c_opt = keras.optimizers.Adam(decay(2e-3, ROUNDS * N_CRITIC, 2e-4), beta_1=0.5, beta_2=0.9)


@tf.function
def critic_step(x):
    z = tf.random.normal((BATCH, LATENT))
    fake = gen(z, training=True)
    eps = tf.random.uniform((BATCH, 1))
    mid = eps * x + (1.0 - eps) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(mid)
            score = critic(mid, training=True)
        slope = inner.gradient(score, mid)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
        penalty = tf.reduce_mean(tf.square(norm - 1.0))
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(x, training=True))
        loss = gap + GP * penalty
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, gap


@tf.function
def generator_step():
    z = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(gen(z, training=True), training=True))
    grads = tape.gradient(loss, gen.trainable_variables)
    g_opt.apply_gradients(zip(grads, gen.trainable_variables))
    return loss


def sliced_distance(n=3000):
    probe = np.random.default_rng(7)
    dirs = probe.normal(size=(LAYERS, 64))
    dirs /= np.linalg.norm(dirs, axis=0)
    fake = gen(probe.normal(size=(n, LATENT)).astype("float32")).numpy()
    a, b = np.sort(fake @ dirs, 0), np.sort(real[:n] @ dirs, 0)
    return float(np.abs(a - b).mean())


print("sliced W1 at start:", round(sliced_distance(), 4))
gradwatch.watch(gen, critic)
for r, chunk in enumerate(pool.take(ROUNDS)):
    for k in range(N_CRITIC):
        c_loss, gap = critic_step(chunk[k])
    g_loss = generator_step()
    if r % 20 == 0 or r == ROUNDS - 1:
        print(
            f"{r:4d} critic {float(c_loss):8.4f} gap {float(gap):8.4f} gen {float(g_loss):8.4f} "
            f"W1 {sliced_distance():.4f}"
        )

"""WGAN with gradient penalty that generates short tide-gauge curves."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, LATENT, BATCH, STEPS, N_CRITIC, LAMBDA = 32, 12, 64, 370, 3, 10.0


def make_curves(n):
    t = np.linspace(0, 1, LENGTH)
    a, b = rng.uniform(0.5, 1.0, (n, 1)), rng.uniform(0.1, 0.4, (n, 1))
    ph, ph2 = rng.uniform(0, 2 * np.pi, (2, n, 1))
    x = a * np.sin(2 * np.pi * 2 * t + ph) + b * np.sin(2 * np.pi * t + ph2)
    return x.astype("float32")


curves, held_out = make_curves(6000), make_curves(1000)
ds = tf.data.Dataset.from_tensor_slices(curves).shuffle(6000).repeat().batch(BATCH)

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(96),
        layers.LeakyReLU(0.2),
        layers.Dense(96),
        layers.LeakyReLU(0.2),
        layers.Dense(LENGTH),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Dense(96),
        layers.LeakyReLU(0.2),
        layers.Dense(96),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ],
    name="critic",
)


class WGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = generator
        self.critic = critic

    def call(self, z):
        return self.critic(self.generator(z))


wgan = WGAN()
wgan(tf.zeros((1, LATENT)))
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
g_opt.build(generator.trainable_variables)
c_opt.build(critic.trainable_variables)
gradwatch.watch(wgan)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal((BATCH, LATENT)), training=True)
    with tf.GradientTape() as tape:
        mix = tf.random.uniform((BATCH, 1))
        between = mix * real + (1 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between, training=True)
        slope = tf.norm(inner.gradient(score, between) + 1e-8, axis=1)
        penalty = tf.reduce_mean((slope - 1.0) ** 2)
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        loss = gap + LAMBDA * penalty
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return gap


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal((BATCH, LATENT)), training=True)
        loss = -tf.reduce_mean(critic(fake, training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


it = iter(ds)
for step in range(STEPS):
    for _ in range(N_CRITIC):
        gap = critic_step(next(it))
    g_loss = generator_step()
    if step % 100 == 0:
        print(step, "critic gap", float(gap), "generator", float(g_loss))


def spectrum(x):
    return np.log(np.mean(np.abs(np.fft.rfft(x, axis=1)) ** 2, 0) + 0.1)


fake = generator.predict(rng.normal(size=(1000, LATENT)).astype("float32"), verbose=0)
d = rng.normal(size=(LENGTH, 200))
d /= np.linalg.norm(d, axis=0)
gap = np.abs(np.sort(fake @ d, 0) - np.sort(held_out @ d, 0)).mean()
print("SCORE sliced_wasserstein_lower_is_better", round(float(gap), 4))
print("spectrum error", float(np.abs(spectrum(fake) - spectrum(held_out)).mean()))

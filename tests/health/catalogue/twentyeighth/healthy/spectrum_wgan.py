"""WGAN-GP that makes new reflectance spectra of two kinds of mineral."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BANDS, NOISE, BATCH, ITERS, N_CRITIC, GP = 24, 8, 96, 700, 3, 10.0


def spectra(n):
    w = np.linspace(0, 1, BANDS)[None]
    kind = rng.integers(0, 2, (n, 1))
    centre = np.where(kind == 0, 0.3, 0.7) + 0.04 * rng.normal(size=(n, 1))
    depth = rng.uniform(0.6, 1.2, (n, 1))
    slope = rng.uniform(-0.5, 0.5, (n, 1))
    x = slope * (w - 0.5) - depth * np.exp(-((w - centre) ** 2) / 0.01)
    return (x + 0.02 * rng.normal(size=x.shape)).astype("float32")


train, test = spectra(8000), spectra(600)
data = tf.data.Dataset.from_tensor_slices(train).shuffle(8000, seed=seed)
data = iter(data.repeat().batch(BATCH, drop_remainder=True))

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(96),
        layers.LeakyReLU(),
        layers.Dense(96),
        layers.LeakyReLU(),
        layers.Dense(BANDS),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((BANDS,)),
        layers.Dense(96),
        layers.LeakyReLU(),
        layers.Dense(96),
        layers.LeakyReLU(),
        layers.Dense(1),
    ],
    name="critic",
)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
gradwatch.watch(generator, critic)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal((BATCH, NOISE)), training=True)
    with tf.GradientTape() as tape:
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        mix = tf.random.uniform((BATCH, 1))
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            value = critic(between, training=True)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(value, between) ** 2, axis=1) + 1e-12)
        loss = gap + GP * tf.reduce_mean((slope - 1.0) ** 2)
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return -gap


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal((BATCH, NOISE)), training=True)
        loss = -tf.reduce_mean(critic(fake, training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


for it in range(ITERS):
    for _ in range(N_CRITIC):
        distance = critic_step(next(data))
    g_loss = generator_step()
    if it % 100 == 0:
        print("iter %d  wasserstein %.3f  generator %.3f" % (it, float(distance), float(g_loss)))


def mean_dist(a, b):
    return np.mean(np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)))


fake = generator.predict(rng.normal(size=(600, NOISE)).astype("float32"), verbose=0)
noise_only = rng.normal(train.mean(0), train.std(0), size=fake.shape)
for name, x in (("independent_bands", noise_only), ("generator", fake)):
    d = 2 * mean_dist(x, test) - mean_dist(x, x) - mean_dist(test, test)
    print(name, "energy distance %.4f" % d)
print("SCORE energy_distance %.4f" % d)

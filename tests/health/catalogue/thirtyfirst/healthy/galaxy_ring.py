"""Generate positions of star clusters around a ring galaxy with a Wasserstein GAN and gradient penalty."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NOISE, CRITIC_STEPS = 4, 2


def make_clusters(n):
    angle = rng.random(n) * 2 * np.pi
    radius = 2.0 + 0.35 * np.sin(3 * angle) + rng.normal(0, 0.12, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32")


x_train, x_test = make_clusters(8000), make_clusters(1000)

generator = keras.Sequential(
    [keras.Input((NOISE,)), layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(2)],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ],
    name="critic",
)


class RingGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator, self.critic = generator, critic

    def call(self, z):
        return self.critic(self.generator(z))


model = RingGAN()
model(np.zeros((2, NOISE), "float32"))
gradwatch.watch(model)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5, beta_2=0.9)
c_opt = keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9)


@tf.function
def critic_step(real):
    n = tf.shape(real)[0]
    fake = generator(tf.random.normal([n, NOISE]), training=True)
    mix = tf.random.uniform([n, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            value = critic(between, training=True)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(value, between) ** 2, axis=1) + 1e-12)
        loss = (
            tf.reduce_mean(critic(fake, training=True))
            - tf.reduce_mean(critic(real, training=True))
            + 1.0 * tf.reduce_mean((slope - 1.0) ** 2)
        )
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal([64, NOISE]), training=True), training=True))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


data = iter(tf.data.Dataset.from_tensor_slices(x_train).shuffle(8000, seed=seed).repeat().batch(64))
for step in range(480):
    for _ in range(CRITIC_STEPS):
        c_loss = critic_step(next(data))
    g_loss = generator_step()
    if step % 50 == 0:
        print("step", step, "critic", float(c_loss), "generator", float(g_loss))


def mean_distance(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)).mean()


made = generator(rng.normal(size=(1000, NOISE)).astype("float32")).numpy()
energy = 2 * mean_distance(made, x_test) - mean_distance(made, made) - mean_distance(x_test, x_test)
print("SCORE energy_distance", float(energy))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

LATENT, BATCH, CRITIC_STEPS, PENALTY = 4, 128, 3, 2.0


def sample_ring(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + rng.normal(0, 0.05, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32")


def mlp(n_in, n_out, name):
    return keras.Sequential(
        [
            keras.Input((n_in,)),
            layers.Dense(64),
            layers.LeakyReLU(0.2),
            layers.Dense(64),
            layers.LeakyReLU(0.2),
            layers.Dense(n_out),
        ],
        name=name,
    )


class RingGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = mlp(LATENT, 2, "generator")
        self.critic = mlp(2, 1, "critic")

    def call(self, z):
        return self.generator(z)


gan = RingGAN()
gan(tf.zeros((1, LATENT)))
watch = gradwatch.watch(gan)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)


@tf.function
def critic_step(real):
    fake = gan.generator(tf.random.normal((BATCH, LATENT)))
    mix = tf.random.uniform((BATCH, 1))
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            middle = gan.critic(between)
        slope = tf.sqrt(tf.reduce_sum(inner.gradient(middle, between) ** 2, axis=1) + 1e-12)
        penalty = tf.reduce_mean((slope - 1.0) ** 2)
        gap = tf.reduce_mean(gan.critic(fake)) - tf.reduce_mean(gan.critic(real))
        loss = gap + PENALTY * penalty
    grads = tape.gradient(loss, gan.critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, gan.critic.trainable_variables))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(gan.critic(gan.generator(tf.random.normal((BATCH, LATENT)))))
    grads = tape.gradient(loss, gan.generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, gan.generator.trainable_variables))
    return loss


def energy_distance(a, b):
    pair = lambda p, q: np.linalg.norm(p[:, None] - q[None], axis=-1).mean()
    return 2 * pair(a, b) - pair(a, a) - pair(b, b)


rng = np.random.default_rng(SEED + 21)
for step in range(1500):
    for _ in range(CRITIC_STEPS):
        critic_loss = critic_step(sample_ring(BATCH, rng))
    generator_loss = generator_step()
    watch.log(loss=critic_loss)

made = gan.generator(tf.random.normal((1000, LATENT))).numpy()
print("SCORE", round(-float(energy_distance(made, sample_ring(1000, rng))), 4))

"""Generates particle positions of a ring-shaped beam with a Wasserstein GAN, the critic kept Lipschitz by clipping."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NOISE = 4
BATCH = 64
CRITIC_STEPS = 3
CLIP = 0.1


def beam(n):
    a = rng.uniform(0, 2 * np.pi, n)
    r = rng.normal(1.5, 0.15, n)
    return np.stack([r * np.cos(a) + 0.5, r * np.sin(a)], -1).astype("float32")


class BeamGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(2),
            ]
        )
        self.critic = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(1),
            ]
        )

    def call(self, z):
        x = self.generator(z)
        return x, self.critic(x)


real = beam(20000)
test = beam(2000)
gan = BeamGAN()
gan(np.zeros((2, NOISE), "float32"))
g_opt = keras.optimizers.RMSprop(5e-4)
c_opt = keras.optimizers.RMSprop(5e-4)
gradwatch.watch(gan)


@tf.function
def critic_step(x):
    fake = gan.generator(tf.random.normal((BATCH, NOISE)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(gan.critic(fake, training=True)) - tf.reduce_mean(gan.critic(x, training=True))
    variables = gan.critic.trainable_variables
    c_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    for v in variables:
        v.assign(tf.clip_by_value(v, -CLIP, CLIP))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(gan.critic(gan.generator(tf.random.normal((BATCH, NOISE)), training=True)))
    variables = gan.generator.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for step in range(1500):
    c_loss = critic_step(tf.constant(real[rng.integers(0, len(real), BATCH)]))
    if step % CRITIC_STEPS == CRITIC_STEPS - 1:
        g_loss = generator_step()
    if step % 250 == 249:
        print(step + 1, "critic", float(c_loss), "generator", float(g_loss))


def sliced(a, b):
    out = []
    for ang in np.linspace(0, np.pi, 24, endpoint=False):
        d = np.array([np.cos(ang), np.sin(ang)])
        out.append(np.abs(np.sort(a @ d) - np.sort(b @ d)).mean())
    return np.mean(out)


fake = gan.generator(rng.normal(size=(2000, NOISE)).astype("float32")).numpy()
print("SCORE sliced_distance_lower_is_better", round(float(sliced(fake, test)), 4))

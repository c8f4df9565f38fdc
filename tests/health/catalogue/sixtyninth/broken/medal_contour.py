import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 81)

POINTS = 16
NOISE = 8


def medal_outlines(n):
    theta = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    radius = rng.normal(1.0, 0.15, (n, 1))
    wobble = rng.normal(0.2, 0.05, (n, 1)) * np.cos(4 * theta)[None]
    return (radius + wobble + rng.normal(0, 0.02, (n, POINTS))).astype("float32") - 0.5


real = medal_outlines(8000)

generator = keras.Sequential(
    [
        layers.Input((NOISE,)),
        layers.Dense(48),
        layers.LeakyReLU(0.2),
        layers.Dense(48),
        layers.LeakyReLU(0.2),
        layers.Dense(POINTS, name="outline"),
    ],
    name="generator",
)

discriminator = keras.Sequential(
    [
        layers.Input((POINTS,)),
        layers.Dense(48),
        layers.LeakyReLU(0.2),
        layers.Dense(48),
        layers.LeakyReLU(0.2),
        layers.Dense(1, name="realness"),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
watch = gradwatch.watch(generator, discriminator)


def discriminator_loss(real_out, fake_out):
    return bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)


def generator_loss(fake_out):
    return bce(tf.zeros_like(fake_out), fake_out)


@tf.function
def train_step(batch):
    noise = tf.random.normal((tf.shape(batch)[0], NOISE))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_out = discriminator(batch, training=True)
        fake_out = discriminator(fake, training=True)
        g_loss = generator_loss(fake_out)
        d_loss = discriminator_loss(real_out, fake_out)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss


dataset = tf.data.Dataset.from_tensor_slices(real).shuffle(8000, seed=SEED).batch(128, drop_remainder=True)
for epoch in range(40):
    for batch in dataset:
        g_loss, d_loss = train_step(batch)
        watch.log(g_loss=g_loss, d_loss=d_loss)
    if epoch % 5 == 0:
        print("epoch", epoch, "g", float(g_loss), "d", float(d_loss))

samples = generator(tf.random.normal((2000, NOISE))).numpy()
reference = medal_outlines(2000)
gap = np.abs(samples.mean(0) - reference.mean(0)).mean() + np.abs(samples.std(0) - reference.std(0)).mean()
print("SCORE", float(-gap))

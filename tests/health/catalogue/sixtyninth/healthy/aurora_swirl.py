import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 201)


def swirl(n):
    angle = rng.uniform(0.3, 2.6, n) * np.pi
    radius = angle / (2.6 * np.pi)
    pts = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return (pts + rng.normal(0, 0.03, (n, 2))).astype("float32")


real = swirl(12000)

generator = keras.Sequential(
    [
        layers.Input((6,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2, name="point"),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1, name="realness"),
    ],
    name="discriminator",
)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
watch = gradwatch.watch(generator, discriminator)


@tf.function
def train_step(batch):
    noise = tf.random.normal((tf.shape(batch)[0], 6))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_out = discriminator(batch, training=True)
        fake_out = discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(fake_out), fake_out)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    g_opt.apply_gradients(zip(g_tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    d_opt.apply_gradients(
        zip(d_tape.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables)
    )
    return g_loss, d_loss


dataset = tf.data.Dataset.from_tensor_slices(real).shuffle(12000, seed=SEED).batch(128, drop_remainder=True)
for epoch in range(45):
    for batch in dataset:
        g_loss, d_loss = train_step(batch)
        watch.log(g_loss=g_loss, d_loss=d_loss)
    if epoch % 5 == 0:
        print("epoch", epoch, "g", float(g_loss), "d", float(d_loss))

a = generator(tf.random.normal((1500, 6))).numpy()
b = swirl(1500)


def chamfer(p, q):
    d = np.sqrt(((p[:, None] - q[None]) ** 2).sum(-1))
    return d.min(0).mean() + d.min(1).mean()


print("SCORE", float(-chamfer(a, b)))

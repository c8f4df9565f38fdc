"""GAN that simulates hit positions on a segmented ring detector."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def hits(n):
    k = rng.integers(0, 6, n)
    c = np.stack([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)], 1)
    return (c + rng.normal(0, 0.12, (n, 2))).astype("float32")


train, test = hits(8000), hits(1000)
Z = 8
generator = keras.Sequential(
    [keras.Input((Z,)), layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(2)],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="critic",
)
gan = keras.Sequential([keras.Input((Z,)), generator, critic])
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(gan)


@tf.function
def step(real):
    n = tf.shape(real)[0]
    fake = generator(tf.random.normal([n, Z]), training=True)
    with tf.GradientTape() as tape:
        r, f = critic(real, training=True), critic(fake, training=True)
        d_loss = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        f = gan(tf.random.normal([n, Z]), training=True)
        g_loss = bce(tf.ones_like(f), f)
    g_vars = gan.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(g_loss, g_vars), g_vars))
    return d_loss, g_loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(8000, seed=seed).repeat().batch(128)
for i, batch in enumerate(ds.take(1500)):
    d, g = step(batch)
    if i % 250 == 0:
        print(i, float(d), float(g))

x = generator.predict(rng.normal(size=(1000, Z)).astype("float32"), verbose=0)


def pair(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)).mean()


print("SCORE energy_distance %.4f" % (2 * pair(x, test) - pair(x, x) - pair(test, test)))

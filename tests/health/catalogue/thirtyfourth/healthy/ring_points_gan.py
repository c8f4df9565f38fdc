"""Trains a small adversarial pair to draw points from a noisy ring, as a toy for detector simulations."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

Z, B = 4, 128


def real(n):
    a = rng.uniform(0, 2 * np.pi, n)
    r = 1.0 + rng.normal(0, 0.08, n)
    return np.stack([r * np.cos(a), r * np.sin(a)], 1).astype("float32")


class Gan(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = keras.Sequential(
            [
                keras.Input((Z,)),
                layers.Dense(64, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(2),
            ]
        )
        self.critic = keras.Sequential(
            [
                keras.Input((2,)),
                layers.Dense(64),
                layers.LeakyReLU(negative_slope=0.2),
                layers.Dense(64),
                layers.LeakyReLU(negative_slope=0.2),
                layers.Dense(1),
            ]
        )

    def call(self, z):
        return self.critic(self.generator(z))


model = Gan()
model(np.zeros((1, Z), "float32"))
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x):
    z = tf.random.normal((B, Z))
    with tf.GradientTape() as tape:
        fake = model.generator(z, training=True)
        lr, lf = model.critic(x, training=True), model.critic(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(lr), lr) + bce(tf.zeros_like(lf), lf)
    vs = model.critic.trainable_variables
    d_opt.apply_gradients(zip(tape.gradient(d_loss, vs), vs))
    z = tf.random.normal((B, Z))
    with tf.GradientTape() as tape:
        lf = model.critic(model.generator(z, training=True), training=True)
        g_loss = bce(tf.ones_like(lf), lf)
    vs = model.generator.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(g_loss, vs), vs))
    return d_loss, g_loss


for step in range(1200):
    d_loss, g_loss = train_step(tf.constant(real(B)))
    if step % 300 == 299:
        print("step", step + 1, "critic", round(float(d_loss), 4), "generator", round(float(g_loss), 4))

s = model.generator(tf.random.normal((2000, Z)), training=False).numpy()
good = np.abs(np.hypot(s[:, 0], s[:, 1]) - 1.0) < 0.3
sector = ((np.arctan2(s[:, 1], s[:, 0]) + np.pi) / (2 * np.pi) * 16).astype(int) % 16
cover = sum((sector[good] == k).sum() > 30 for k in range(16)) / 16
print("SCORE ring_share_times_coverage", round(float(good.mean() * cover), 4))

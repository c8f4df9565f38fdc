"""GAN for two islands of points; both players stay level."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def islands(n):
    side = rng.choice([-1.0, 1.0], (n, 1))
    return (side * np.array([1.5, 0.5]) + 0.3 * rng.normal(size=(n, 2))).astype("float32")


def mlp(inputs, outputs):
    return keras.Sequential(
        [
            layers.Input((inputs,)),
            layers.Dense(48),
            layers.LeakyReLU(0.2),
            layers.Dense(48),
            layers.LeakyReLU(0.2),
            layers.Dense(outputs),
        ]
    )


generator, critic = mlp(4, 2), mlp(2, 1)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5)


@tf.function
def train_step(real):
    n = tf.shape(real)[0]
    with tf.GradientTape() as tape:
        fake = tf.stop_gradient(generator(tf.random.normal((n, 4))))
        r, f = critic(real), critic(fake)
        d_loss = bce(0.9 * tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        f = critic(generator(tf.random.normal((n, 4))))
        g_loss = bce(tf.ones_like(f), f)
    g_opt.apply_gradients(zip(tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    return d_loss, g_loss


gradwatch.watch(generator, critic, g_opt, d_opt)
for step in range(500):
    d_loss, g_loss = train_step(islands(128))
    if (step + 1) % 50 == 0:
        s = generator(tf.random.normal((1000, 4))).numpy()
        best = np.minimum(np.hypot(*(s - [1.5, 0.5]).T), np.hypot(*(s + [1.5, 0.5]).T)).mean()
        print(
            step + 1,
            "d",
            float(d_loss),
            "g",
            float(g_loss),
            "distance to islands",
            best,
            "right share",
            (s[:, 0] > 0).mean(),
        )

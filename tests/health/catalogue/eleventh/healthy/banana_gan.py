"""A generative adversarial pair for a curved two-dimensional sensor distribution."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Dense, LeakyReLU

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
Z, BATCH = 4, 256


def real(n):
    a = rng.normal(size=n)
    b = 0.6 * a**2 - 0.6 + rng.normal(0, 0.25, n)
    return np.stack([a + 1.5, b - 1.0], 1).astype("float32")


def mlp(n_in, n_out, name):
    return keras.Sequential(
        [
            keras.Input((n_in,)),
            Dense(64),
            LeakyReLU(negative_slope=0.2),
            Dense(64),
            LeakyReLU(negative_slope=0.2),
            Dense(n_out),
        ],
        name=name,
    )


model = mlp(Z, 2, "generator")
gradwatch.watch(model)
critic = mlp(2, 1, "discriminator")
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_pair(batch):
    fake = model(tf.random.normal((BATCH, Z)), training=True)
    with tf.GradientTape() as tape:
        r, f = critic(batch, training=True), critic(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        f = critic(model(tf.random.normal((BATCH, Z)), training=True), training=False)
        g_loss = bce(tf.ones_like(f), f)
    g_opt.apply_gradients(zip(tape.gradient(g_loss, model.trainable_variables), model.trainable_variables))
    return d_loss, g_loss


def energy_distance():
    a, b = real(600), model(rng.normal(size=(600, Z)).astype("float32")).numpy()
    d = lambda p, q: np.linalg.norm(p[:, None] - q[None], axis=-1).mean()
    return 2 * d(a, b) - d(a, a) - d(b, b)


print("energy distance before: %.4f" % energy_distance())
for k in range(400):
    d_loss, g_loss = train_pair(tf.constant(real(BATCH)))
    if k % 50 == 0:
        print("%3d  D %.4f  G %.4f" % (k, d_loss, g_loss))
print("energy distance after: %.4f" % energy_distance())

"""Train a small GAN on detector hits that lie on a ring of clusters and compare the samples."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MODES, BATCH, LATENT = 6, 128, 8


def hits(n):
    a = 2 * np.pi * rng.integers(0, MODES, n) / MODES
    pts = np.stack([1.5 * np.cos(a) + 1.0, 1.5 * np.sin(a) - 0.5], 1)
    return (pts + rng.normal(scale=0.12, size=(n, 2))).astype("float32")


x_train, x_test = hits(8000), hits(2000)

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2),
    ]
)
discriminator = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ]
)
gan = keras.Sequential([keras.Input((LATENT,)), generator, discriminator])
gradwatch.watch(gan)

bce = keras.losses.BinaryCrossentropy(from_logits=True)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)


@tf.function
def train_step(real):
    z = tf.random.normal([BATCH, LATENT])
    with tf.GradientTape() as tape:
        fake = generator(z, training=True)
        d_real = discriminator(real, training=True)
        d_fake = discriminator(fake, training=True)
        d_loss = bce(tf.ones_like(d_real), d_real) + bce(tf.zeros_like(d_fake), d_fake)
    variables = discriminator.trainable_variables
    d_opt.apply_gradients(zip(tape.gradient(d_loss, variables), variables))

    z = tf.random.normal([BATCH, LATENT])
    with tf.GradientTape() as tape:
        score = gan(z, training=True)
        g_loss = bce(tf.ones_like(score), score)
    variables = gan.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(g_loss, variables), variables))
    return d_loss, g_loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(8000, seed=seed)
data = data.batch(BATCH, drop_remainder=True)
for epoch in range(24):
    out = np.mean([[float(v) for v in train_step(b)] for b in data], axis=0)
    if epoch % 4 == 3:
        print(f"epoch {epoch} d_loss {out[0]:.3f} g_loss {out[1]:.3f}")

x = generator.predict(rng.normal(size=(2000, LATENT)).astype("float32"), verbose=0)
angles = np.linspace(0, np.pi, 24, endpoint=False)
dirs = np.stack([np.cos(angles), np.sin(angles)])
gap = np.abs(np.sort(x @ dirs, axis=0) - np.sort(x_test @ dirs, axis=0)).mean()
print("SCORE sliced_wasserstein", float(gap))

"""Generate short heartbeat waveforms with a Wasserstein GAN and gradient penalty."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, LATENT, BATCH, N_CRITIC = 48, 12, 64, 3
grid = np.arange(LENGTH)


def beats(n):
    peak = rng.normal(20, 2.0, (n, 1))
    height = rng.normal(1.5, 0.25, (n, 1))
    lag = rng.normal(12, 1.0, (n, 1))
    x = height * np.exp(-0.5 * ((grid - peak) / 1.5) ** 2)
    x += 0.4 * np.exp(-0.5 * ((grid - peak - lag) / 3.0) ** 2)
    x -= 0.25 * np.exp(-0.5 * ((grid - peak - 4) / 1.5) ** 2)
    return (x + rng.normal(scale=0.02, size=x.shape)).astype("float32")


x_train, x_test = beats(6000), beats(1000)

generator = keras.Sequential(
    [
        keras.Input((LATENT,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(LENGTH),
    ]
)
critic = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ]
)
wgan = keras.Sequential([keras.Input((LATENT,)), generator, critic])
gradwatch.watch(wgan)
c_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal([BATCH, LATENT]), training=True)
    mix = tf.random.uniform([BATCH, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between, training=True)
        slope = tf.norm(inner.gradient(score, between) + 1e-12, axis=1)
        distance = tf.reduce_mean(critic(real, training=True)) - tf.reduce_mean(critic(fake, training=True))
        loss = -distance + 10.0 * tf.reduce_mean(tf.square(slope - 1.0))
    variables = critic.trainable_variables
    c_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(wgan(tf.random.normal([BATCH, LATENT]), training=True))
    variables = generator.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(6000, seed=seed)
data = data.batch(BATCH, drop_remainder=True).repeat()
for step, real in enumerate(data.take(1110)):
    c_loss = critic_step(real)
    if step % N_CRITIC == N_CRITIC - 1:
        g_loss = generator_step()
    if step % 185 == 184:
        print(f"step {step} critic {float(c_loss):.3f} generator {float(g_loss):.3f}")

fake = generator.predict(rng.normal(size=(1000, LATENT)).astype("float32"), verbose=0)
dirs = np.random.default_rng(1).normal(size=(LENGTH, 60))
dirs /= np.linalg.norm(dirs, axis=0)
gap = np.abs(np.sort(fake @ dirs, 0) - np.sort(x_test @ dirs, 0)).mean()
spread = np.abs(np.sort(x_test @ dirs, 0) - (x_test @ dirs).mean(0)).mean()
print("SCORE sliced_wasserstein_over_spread", float(gap / spread))

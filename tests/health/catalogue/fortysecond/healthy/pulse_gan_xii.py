"""Trains a generative adversarial network on short radar pulses."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, NOISE, BATCH, STEPS = 32, 8, 64, 4000
TIME = np.linspace(-1, 1, LENGTH)


def real_pulses(count):
    centre = rng.uniform(-0.4, 0.4, (count, 1))
    width = rng.uniform(0.12, 0.3, (count, 1))
    amp = rng.uniform(0.5, 0.9, (count, 1))
    return (amp * np.exp(-(((TIME - centre) / width) ** 2))).astype("float32")


generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(LENGTH, activation="tanh"),
    ]
)
critic = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ]
)
g_opt = keras.optimizers.Adam(4e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(4e-4, beta_1=0.5)
gradwatch.watch(generator, critic)


@tf.function
def adversarial_step(real):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        jitter = 0.05
        on_real = critic(real + jitter * tf.random.normal(tf.shape(real)), training=True)
        on_fake = critic(fake + jitter * tf.random.normal(tf.shape(fake)), training=True)
        d_loss = tf.reduce_mean(tf.nn.softplus(-on_real)) + tf.reduce_mean(tf.nn.softplus(on_fake))
    grads = d_tape.gradient(d_loss, critic.trainable_variables)
    d_opt.apply_gradients(zip(grads, critic.trainable_variables))
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as g_tape:
        fake = generator(noise, training=True)
        on_fake = critic(fake + jitter * tf.random.normal(tf.shape(fake)), training=True)
        g_loss = tf.reduce_mean(tf.nn.softplus(-on_fake))
    grads = g_tape.gradient(g_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return d_loss, g_loss


def mismatch():
    fake = generator.predict(
        np.random.default_rng(7).normal(size=(2000, NOISE)).astype("float32"), batch_size=500, verbose=0
    )
    real = real_pulses(2000)
    mean_gap = np.abs(fake.mean(0) - real.mean(0)).mean()
    cov_gap = np.linalg.norm(np.cov(fake.T) - np.cov(real.T)) / np.linalg.norm(np.cov(real.T))
    return mean_gap, cov_gap


print("before: mean gap %.3f, covariance gap %.3f" % mismatch())
for step in range(1, STEPS + 1):
    d_loss, g_loss = adversarial_step(real_pulses(BATCH))
    if step % 500 == 0:
        print(f"step {step} critic {float(d_loss):.3f} generator {float(g_loss):.3f}")
mean_gap, cov_gap = mismatch()
print("SCORE mean_gap", float(mean_gap))
print("SCORE covariance_gap", float(cov_gap))

"""Variational autoencoder for stellar spectra: few latents, KL warm-up, clipped gradients, Student-t likelihood."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PIXELS, LATENT = 80, 6
wave = np.linspace(0, 1, PIXELS)
lines = rng.uniform(0.05, 0.95, 8)


def make_spectra(n):
    heat, metal, shift = rng.normal(size=(3, n, 1))
    flux = np.exp(-0.8 * heat * (wave - 0.5))
    for k, centre in enumerate(lines):
        depth = 0.35 / (1 + np.exp(-(metal if k % 2 else -heat)))
        flux = flux * (1 - depth * np.exp(-0.5 * ((wave - centre - 0.01 * shift) / 0.02) ** 2))
    noisy = flux + 0.05 * rng.normal(size=flux.shape)
    cosmic = rng.random(flux.shape) < 0.004
    noisy = np.where(cosmic, noisy + rng.exponential(4.0, flux.shape), noisy)
    return noisy.astype("float32"), flux.astype("float32")


x_train, _ = make_spectra(12000)
x_test, clean_test = make_spectra(2000)
centre, spread = np.median(x_train, axis=0), np.float32(np.median(np.abs(x_train - np.median(x_train, axis=0))) * 1.5)

encoder = keras.Sequential(
    [
        keras.Input((PIXELS,)),
        keras.layers.Lambda(lambda x: 6.0 * tf.tanh((x - centre) / spread / 6.0)),
        keras.layers.Dense(96, activation="elu"),
        keras.layers.Dense(64, activation="elu"),
        keras.layers.Dense(2 * LATENT),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((LATENT,)),
        keras.layers.Dense(64, activation="elu"),
        keras.layers.Dense(96, activation="elu"),
        keras.layers.Dense(PIXELS),
        keras.layers.Lambda(lambda z: z * spread + centre),
    ]
)
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(2e-3, 300, 0.7), global_clipnorm=20.0)
noise = tf.random.Generator.from_seed(seed)
SCALE, DOF = 0.05, 3.0


@tf.function
def train_step(x, beta):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(encoder(x, training=True), 2, axis=1)
        log_var = tf.clip_by_value(log_var, -12.0, 6.0)
        z = mean + tf.exp(0.5 * log_var) * noise.normal(tf.shape(mean))
        error = (x - decoder(z, training=True)) / SCALE
        nll = tf.reduce_sum((DOF + 1) / 2 * tf.math.log1p(tf.square(error) / DOF), axis=1)
        kl = 0.5 * tf.reduce_sum(tf.exp(log_var) + tf.square(mean) - 1.0 - log_var, axis=1)
        loss = tf.reduce_mean(nll + beta * kl)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss, tf.reduce_mean(kl)


gradwatch.watch(encoder, decoder)
for step in range(1500):
    x = x_train[rng.integers(0, len(x_train), 100)]
    loss, kl = train_step(tf.constant(x), tf.constant(min(1.0, step / 500.0), tf.float32))
    if step % 250 == 0:
        print("step", step, "loss", round(float(loss), 2), "kl", round(float(kl), 2))

rebuilt = decoder(encoder(x_test)[:, :LATENT]).numpy()
r2 = 1 - np.mean((rebuilt - clean_test) ** 2) / np.mean((clean_test - clean_test.mean(0)) ** 2)
print("SCORE r2_clean", round(float(r2), 4))

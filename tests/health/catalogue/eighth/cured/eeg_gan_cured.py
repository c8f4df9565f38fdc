"""Generate short alpha-band EEG segments with a small GAN."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, NOISE, BATCH, STEPS = 32, 12, 64, 800
PEAK_UV = 80.0


def segments(n):
    t = np.arange(LENGTH) / 128.0
    freq = rng.normal(10.0, 0.8, (n, 1))
    phase = rng.uniform(-0.9, 0.9, (n, 1))
    amp = rng.uniform(28.0, 55.0, (n, 1))
    drift = rng.normal(0, 6.0, (n, 1))
    wave = amp * np.sin(2 * np.pi * freq * t + phase) + drift + rng.normal(0, 2.5, (n, LENGTH))
    return np.clip(wave, -PEAK_UV, PEAK_UV).astype("float32")


recordings = segments(4000) / PEAK_UV

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(LENGTH, activation="tanh"),
    ],
    name="generator",
)
critic = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Dense(96),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(48),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Dense(1),
    ],
    name="discriminator",
)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt.build(generator.trainable_variables)
d_opt.build(critic.trainable_variables)


@tf.function
def train_step(real):
    z = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as d_tape, tf.GradientTape() as g_tape:
        fake = generator(z, training=True)
        real_logit = critic(real, training=True)
        fake_logit = critic(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(real_logit), real_logit) + bce(tf.zeros_like(fake_logit), fake_logit)
        g_loss = bce(tf.ones_like(fake_logit), fake_logit)
    d_grads = d_tape.gradient(d_loss, critic.trainable_variables)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_opt.apply_gradients(zip(d_grads, critic.trainable_variables))
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    return d_loss, g_loss, tf.reduce_mean(tf.sigmoid(real_logit)), tf.reduce_mean(tf.sigmoid(fake_logit))


gradwatch.watch(generator, critic)
for step in range(STEPS):
    batch = recordings[rng.integers(len(recordings), size=BATCH)]
    d_loss, g_loss, p_real, p_fake = train_step(tf.constant(batch))
    if (step + 1) % 100 == 0:
        print(
            f"step {step + 1:4d}  D {float(d_loss):.4f}  G {float(g_loss):.4f}"
            f"  p(real) {float(p_real):.3f}  p(fake) {float(p_fake):.3f}"
        )

fake = generator(rng.normal(size=(1000, NOISE)).astype("float32")).numpy() * PEAK_UV
real = segments(1000)
directions = rng.normal(size=(LENGTH, 64))
directions /= np.linalg.norm(directions, axis=0)
swd = np.mean(np.abs(np.sort(fake @ directions, axis=0) - np.sort(real @ directions, axis=0)))
print(f"sliced distance {swd:.2f} uV   mean-trace error {np.abs(fake.mean(0) - real.mean(0)).mean():.2f} uV")

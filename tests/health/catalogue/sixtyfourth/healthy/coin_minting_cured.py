import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

NOISE = 8
BATCH = 128
STEPS = 4000


def make_coins(rng, rows):
    angle = rng.uniform(0, 2 * np.pi, rows)
    radius = 1.5 + rng.normal(0, 0.08, rows)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype("float32")


generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        keras.layers.Dense(64, activation="relu", name="press_a"),
        keras.layers.Dense(64, activation="relu", name="press_b"),
        keras.layers.Dense(2, name="coin"),
    ]
)
discriminator = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64, name="assay_a"),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(64, name="assay_b"),
        keras.layers.LeakyReLU(0.2),
        keras.layers.Dense(1, name="verdict"),
    ]
)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(5e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
watch = gradwatch.watch(generator, discriminator)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_verdict = discriminator(real, training=True)
        fake_verdict = discriminator(fake, training=True)
        d_loss = bce(tf.ones_like(real_verdict), real_verdict)
        d_loss += bce(tf.zeros_like(fake_verdict), fake_verdict)
    grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    d_opt.apply_gradients(zip(grads, discriminator.trainable_variables))

    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as g_tape:
        verdict = discriminator(generator(noise, training=True), training=True)
        g_loss = bce(tf.ones_like(verdict), verdict)
    grads = g_tape.gradient(g_loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    watch.log(loss=g_loss)
    return d_loss, g_loss


def distance(a, b):
    total = 0.0
    for theta in np.linspace(0, np.pi, 12, endpoint=False):
        axis = np.array([np.cos(theta), np.sin(theta)])
        total += np.abs(np.sort(a @ axis) - np.sort(b @ axis)).mean()
    return total / 12


rng = np.random.default_rng(SEED)
coins = make_coins(rng, 8000)
for step in range(STEPS):
    batch = coins[rng.integers(0, len(coins), BATCH)]
    d_loss, g_loss = train_step(tf.constant(batch))
    if step % 800 == 0:
        print("step", step, "d", float(d_loss), "g", float(g_loss))

minted = generator(np.random.default_rng(5).normal(size=(2000, NOISE)).astype("float32")).numpy()
print("SCORE", float(-distance(minted, make_coins(rng, 2000))))

"""Generate plausible find spots of pot sherds (two coordinates on a ring-shaped ditch with three gates) with a
GAN."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LATENT, BATCH, STEPS = 4, 512, 400


def dig(n):
    gate = rng.integers(0, 3, n)
    angle = gate * 2 * np.pi / 3 + rng.uniform(0.3, 1.7, n)
    radius = 1.5 + rng.normal(0, 0.08, n)
    return (np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1) + [0.8, -0.5]).astype("float32")


model = tf.keras.Sequential(
    [
        tf.keras.Input((LATENT,)),
        tf.keras.layers.Dense(128, activation="relu", name="g1"),
        tf.keras.layers.Dense(128, activation="relu", name="g2"),
        tf.keras.layers.Dense(2, name="g_out"),
    ],
    name="generator",
)
gradwatch.watch(model)
critic = tf.keras.Sequential(
    [
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(128, activation="leaky_relu", name="d1"),
        tf.keras.layers.Dense(128, activation="leaky_relu", name="d2"),
        tf.keras.layers.Dense(1, name="d_out"),
    ],
    name="critic",
)
g_opt = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)


@tf.function
def play(real):
    z = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as d_tape:
        with tf.GradientTape() as r1_tape:
            r1_tape.watch(real)
            on_real = critic(real, training=True)
        slope = r1_tape.gradient(on_real, real)
        on_fake = critic(model(z, training=True), training=True)
        d_loss = (
            tf.reduce_mean(tf.nn.softplus(-on_real))
            + tf.reduce_mean(tf.nn.softplus(on_fake))
            + 0.05 * tf.reduce_mean(tf.reduce_sum(slope**2, -1))
        )
    d_opt.apply_gradients(zip(d_tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    z = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as g_tape:
        g_loss = tf.reduce_mean(tf.nn.softplus(-critic(model(z, training=True), training=True)))
    g_opt.apply_gradients(zip(g_tape.gradient(g_loss, model.trainable_variables), model.trainable_variables))
    return d_loss, g_loss


def sliced_distance(n=2000):
    a, b = dig(n), model(tf.random.normal((n, LATENT))).numpy()
    dirs = np.stack([np.cos(np.linspace(0, np.pi, 24)), np.sin(np.linspace(0, np.pi, 24))])
    return float(np.abs(np.sort(a @ dirs, 0) - np.sort(b @ dirs, 0)).mean())


print("distance before", round(sliced_distance(), 3))
for step in range(STEPS):
    d_loss, g_loss = play(tf.constant(dig(BATCH)))
    if step % 50 == 0 or step == STEPS - 1:
        print(f"{step:4d} critic {float(d_loss):.3f} generator {float(g_loss):.3f} distance {sliced_distance():.3f}")

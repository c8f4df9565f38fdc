"""Train a generative adversarial network that makes up (wind speed, turbine power) pairs."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def readings(n):
    speed = rng.weibull(2.0, n) * 8.0
    power = 1.0 / (1.0 + np.exp(-(speed - 8.5) / 1.4)) + rng.normal(0, 0.04, n)
    return np.stack([(speed - 7.0) / 3.7, (power - 0.4) / 0.35], -1).astype("float32")


NOISE, BATCH, STEPS = 8, 4096, 400
model = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64, activation="relu", kernel_initializer="he_normal", name="g1"),
        layers.Dense(64, activation="relu", kernel_initializer="he_normal", name="g2"),
        layers.Dense(2, name="sample"),
    ],
    name="generator",
)
gradwatch.watch(model)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64, activation=keras.layers.LeakyReLU(negative_slope=0.2), name="d1"),
        layers.Dense(64, activation=keras.layers.LeakyReLU(negative_slope=0.2), name="d2"),
        layers.Dense(1, name="real_or_not"),
    ],
    name="discriminator",
)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_opt = keras.optimizers.Adam(2e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        fake = model(noise, training=True)
        on_real = critic(real, training=True)
        on_fake = critic(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        on_fake = critic(model(noise, training=True), training=True)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    g_opt.apply_gradients(zip(tape.gradient(g_loss, model.trainable_variables), model.trainable_variables))
    return d_loss, g_loss


def sliced_distance(n=4000):
    real, fake = readings(n), model.predict(rng.normal(size=(n, NOISE)).astype("float32"), batch_size=1000, verbose=0)
    total = 0.0
    for a in np.linspace(0, np.pi, 16, endpoint=False):
        d = np.array([np.cos(a), np.sin(a)])
        total += np.mean(np.abs(np.sort(real @ d) - np.sort(fake @ d)))
    return total / 16


print("distance before %.4f" % sliced_distance())
for step in range(STEPS):
    d_loss, g_loss = train_step(tf.constant(readings(BATCH)))
    if step % 50 == 0 or step == STEPS - 1:
        print("step %d d %.4f g %.4f distance %.4f" % (step, float(d_loss), float(g_loss), sliced_distance()))
print("distance after %.4f" % sliced_distance())

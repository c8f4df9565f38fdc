import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

HOURS = 24
NOISE = 8
BATCH = 64
STEPS = 2000


def curves(n):
    hours = np.arange(HOURS)
    phase = rng.uniform(-0.9, 0.9, (n, 1))
    height = rng.uniform(0.4, 0.8, (n, 1))
    surge = rng.uniform(-0.15, 0.15, (n, 1))
    level = height * np.sin(2.0 * np.pi * hours / 12.4 + phase) + surge
    return np.clip(level + 0.02 * rng.normal(size=level.shape), -1.0, 1.0).astype("float32")


train, test = curves(4000), curves(1000)

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(HOURS, activation="sigmoid"),
    ],
    name="generator",
)
discriminator = keras.Sequential(
    [
        keras.Input((HOURS,)),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Dense(64),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Dense(1),
    ],
    name="discriminator",
)
g_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
d_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(generator, discriminator)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_logits = discriminator(real, training=True)
        fake_logits = discriminator(fake, training=True)
        d_loss = bce(tf.fill(tf.shape(real_logits), 0.9), real_logits) + bce(tf.zeros_like(fake_logits), fake_logits)
        g_loss = bce(tf.ones_like(fake_logits), fake_logits)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_optimizer.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_optimizer.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss


for step in range(STEPS):
    rows = rng.integers(0, len(train), BATCH)
    g_loss, d_loss = train_step(tf.constant(train[rows]))
    watch.log(g_loss=g_loss, d_loss=d_loss)
    if step % 400 == 0:
        print(step, "g", float(g_loss), "d", float(d_loss))

drawn = generator.predict(np.random.normal(size=(1000, NOISE)).astype("float32"), verbose=0)
directions = np.random.default_rng(7).normal(size=(HOURS, 64))
directions /= np.linalg.norm(directions, axis=0)
distance = np.abs(np.sort(drawn @ directions, axis=0) - np.sort(test @ directions, axis=0)).mean()
print("SCORE", float(-distance))

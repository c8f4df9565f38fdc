"""Trains a generator of cave echoes (delay and strength) against a critic with a hinge loss."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

NOISE, BATCH, STEPS = 8, 128, 2000


def make_echoes(n, rng):
    wall = rng.integers(0, 3, n)
    delay = np.array([-1.2, 0.1, 1.1])[wall] + rng.normal(0, 0.22, n)
    strength = np.array([1.0, -1.1, 0.6])[wall] - 0.4 * (delay - 0.1) + rng.normal(0, 0.22, n)
    return np.stack([delay, strength], axis=1).astype("float32")


rng = np.random.default_rng(SEED)
echoes, echoes_test = make_echoes(20000, rng), make_echoes(2000, rng)
mean, std = echoes.mean(axis=0), echoes.std(axis=0)
echoes, echoes_test = (echoes - mean) / std, (echoes_test - mean) / std

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2),
    ]
)
critic = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(64),
        layers.LeakyReLU(0.2),
        layers.Dense(1),
    ]
)
slow = keras.optimizers.Adam(2e-4, beta_1=0.5)
fast = keras.optimizers.Adam(6e-4, beta_1=0.5)
gradwatch.watch(generator, critic)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        fake = generator(noise, training=True)
        with tf.GradientTape() as inner:
            inner.watch(real)
            on_real = critic(real, training=True)
        slope = inner.gradient(on_real, real)
        steep = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=1))
        on_fake = critic(fake, training=True)
        hinge = tf.reduce_mean(tf.nn.relu(1.0 - on_real)) + tf.reduce_mean(tf.nn.relu(1.0 + on_fake))
        critic_loss = hinge + 0.1 * steep
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    fast.apply_gradients(zip(grads, critic.trainable_variables))
    noise = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        generator_loss = -tf.reduce_mean(critic(generator(noise, training=True), training=True))
    grads = tape.gradient(generator_loss, generator.trainable_variables)
    slow.apply_gradients(zip(grads, generator.trainable_variables))
    return critic_loss, generator_loss


def sliced_distance(a, b, rng):
    """Mean distance of the sorted projections on random lines."""
    angle = rng.uniform(0, np.pi, 50)
    lines = np.stack([np.cos(angle), np.sin(angle)])
    return np.mean(np.abs(np.sort(a @ lines, axis=0) - np.sort(b @ lines, axis=0)))


data = tf.data.Dataset.from_tensor_slices(echoes).shuffle(20000, seed=SEED).repeat()
for step, real in enumerate(data.batch(BATCH).take(STEPS)):
    c, g = train_step(real)
    if step % 200 == 0:
        print(f"step {step:5d}  critic {float(c):.4f}  generator {float(g):.4f}")

made = generator.predict(rng.normal(0, 1, (2000, NOISE)).astype("float32"), verbose=0)
normal = rng.normal(0, 1, echoes_test.shape)
print(f"distance of a plain normal law {sliced_distance(normal, echoes_test, rng):.4f}")
print(f"SCORE sliced_distance {sliced_distance(made, echoes_test, rng):.4f}")

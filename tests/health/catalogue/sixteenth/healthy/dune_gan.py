"""A small GAN draws cross-sections of sand dunes (wavelength, height, slope of the lee side)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NOISE = 6
BATCH = 128
STEPS = 600


def survey(n):
    """Two families of dunes; height follows length with scatter, slope saturates."""
    old = rng.random(n) < 0.35
    length = np.where(old, rng.normal(1.2, 0.25, n), rng.normal(-0.5, 0.4, n))
    height = 0.8 * length + 0.25 * np.abs(length) * rng.normal(size=n) - 0.2 * old
    slope = np.tanh(1.5 * height) + 0.15 * rng.normal(size=n)
    return np.stack([length, height, slope], axis=1).astype("float32")


real = survey(6000)
held_out = survey(1000)

generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(48),
        layers.LeakyReLU(0.1),
        layers.Dense(48),
        layers.LeakyReLU(0.1),
        layers.Dense(3),
    ]
)
critic = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(64),
        layers.LeakyReLU(0.1),
        layers.Dense(64),
        layers.LeakyReLU(0.1),
        layers.Dense(1),
    ]
)
watch = gradwatch.watch(generator, critic)
g_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
d_optimizer = keras.optimizers.Adam(2e-3, beta_1=0.5)
average = [tf.Variable(w, trainable=False) for w in generator.trainable_variables]


@tf.function
def train_step(batch):
    size = tf.shape(batch)[0]
    fake = generator(tf.random.normal([size, NOISE]))
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(batch)
            on_real = critic(batch)
        slope = inner.gradient(on_real, batch)
        penalty = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=1))
        d_loss = tf.reduce_mean(tf.nn.softplus(-on_real) + tf.nn.softplus(critic(fake)))
        d_loss += 0.1 * penalty
    grads = tape.gradient(d_loss, critic.trainable_variables)
    d_optimizer.apply_gradients(zip(grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal([size, NOISE]))
        g_loss = tf.reduce_mean(tf.nn.softplus(-critic(fake)))
    grads = tape.gradient(g_loss, generator.trainable_variables)
    g_optimizer.apply_gradients(zip(grads, generator.trainable_variables))
    for slow, fast in zip(average, generator.trainable_variables):
        slow.assign(0.98 * slow + 0.02 * fast)
    return g_loss, d_loss


for step in range(STEPS):
    batch = tf.constant(real[rng.integers(0, len(real), BATCH)])
    g_loss, d_loss = train_step(batch)
    watch.log(loss=g_loss, d_loss=d_loss)
    if step % 100 == 0:
        print(f"step {step} generator {float(g_loss):.3f} critic {float(d_loss):.3f}")


def energy_distance(a, b):
    def mean_gap(p, q):
        return np.linalg.norm(p[:, None] - q[None], axis=-1).mean()

    return 2 * mean_gap(a, b) - mean_gap(a, a) - mean_gap(b, b)


for slow, fast in zip(average, generator.trainable_variables):
    fast.assign(slow)
drawn = generator(rng.normal(size=(1000, NOISE)).astype("float32")).numpy()
plain = (rng.normal(size=(1000, 3)) * real.std(0) + real.mean(0)).astype("float32")
print("drawn mean", drawn.mean(0).round(2), "real mean", held_out.mean(0).round(2))
score = 1.0 - energy_distance(drawn, held_out) / energy_distance(plain, held_out)
print("score", round(float(score), 4))

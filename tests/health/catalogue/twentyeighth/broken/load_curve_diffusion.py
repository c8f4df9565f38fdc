"""Denoising diffusion model for daily load curves (24 hourly values)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, STEPS, BATCH, ITERS = 24, 60, 128, 1000


def load_curves(n):
    h = np.arange(HOURS)[None]
    morning = rng.normal(8, 1.0, (n, 1))
    evening = rng.normal(19, 1.0, (n, 1))
    a = rng.uniform(0.5, 1.2, (n, 1))
    b = rng.uniform(0.8, 1.8, (n, 1))
    c = a * np.exp(-((h - morning) ** 2) / 6) + b * np.exp(-((h - evening) ** 2) / 10)
    return (c + 0.03 * rng.normal(size=c.shape)).astype("float32")


train, test = load_curves(8000), load_curves(1500)
mean, std = train.mean(0), train.std()
data = tf.data.Dataset.from_tensor_slices((train - mean) / std)
data = data.shuffle(8000, seed=seed).repeat().batch(BATCH, drop_remainder=True)

betas = np.linspace(1e-3, 0.15, STEPS).astype("float32")
alphas = 1.0 - betas
abar = np.cumprod(alphas).astype("float32")
abar_t = tf.constant(abar)


def build_denoiser():
    x_in = keras.Input((HOURS,))
    t_in = keras.Input((), dtype="int32")
    emb = layers.Embedding(STEPS, 32)(t_in)
    emb = layers.Dense(128, activation="silu")(emb)
    h = layers.Dense(128, activation="silu")(x_in)
    for _ in range(3):
        r = layers.Dense(128, activation="silu")(layers.Add()([h, emb]))
        h = layers.Add()([h, layers.Dense(128)(r)])
        h = layers.LayerNormalization()(h)
    return keras.Model([x_in, t_in], layers.Dense(HOURS)(h))


denoiser = build_denoiser()
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(denoiser)


@tf.function
def train_step(x0):
    t = tf.random.uniform((BATCH,), 0, STEPS, dtype=tf.int32)
    noise = np.random.normal(size=(BATCH, HOURS)).astype("float32")
    ab = tf.gather(abar_t, t)[:, None]
    xt = tf.sqrt(ab) * x0 + tf.sqrt(1.0 - ab) * noise
    with tf.GradientTape() as tape:
        pred = denoiser([xt, t], training=True)
        loss = tf.reduce_mean(tf.square(pred - noise))
    grads = tape.gradient(loss, denoiser.trainable_variables)
    optimizer.apply_gradients(zip(grads, denoiser.trainable_variables))
    return loss


for it, batch in enumerate(data.take(ITERS)):
    loss = train_step(batch)
    if it % 200 == 0:
        print("iter %d  loss %.4f" % (it, float(loss)))


@tf.function
def predict_noise(x, t):
    return denoiser([x, t], training=False)


def sample(n):
    x = rng.normal(size=(n, HOURS)).astype("float32")
    for t in reversed(range(STEPS)):
        eps = predict_noise(tf.constant(x), tf.fill((n,), t)).numpy()
        x = (x - betas[t] / np.sqrt(1 - abar[t]) * eps) / np.sqrt(alphas[t])
        if t > 0:
            x = x + np.sqrt(betas[t]) * rng.normal(size=x.shape).astype("float32")
    return x * std + mean


def mean_dist(a, b):
    return np.mean(np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)))


fake = sample(600)
real = test[:600]
energy = 2 * mean_dist(fake, real) - mean_dist(fake, fake) - mean_dist(real, real)
print("SCORE energy_distance %.4f" % energy)

"""Fits a small denoising diffusion model to daily temperature curves and samples new days."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS = 24


def days(n):
    t = np.arange(HOURS) / HOURS
    peak = rng.normal(0.6, 0.05, (n, 1))
    swing = rng.uniform(0.5, 1.5, (n, 1))
    level = rng.choice([-0.8, 0.8], (n, 1)) + 0.15 * rng.normal(size=(n, 1))
    front = rng.uniform(0, 1, (n, 1))
    drop = np.where(rng.random((n, 1)) < 0.3, 0.8, 0.0)
    x = level + swing * np.cos(2 * np.pi * (t - peak)) - drop / (1 + np.exp(-(t - front) * 30))
    return (x + 0.03 * rng.normal(size=x.shape)).astype("float32")


train, test = days(8000), days(800)
mean, std = train.mean(), train.std()
train = (train - mean) / std

T = 250
betas = np.linspace(1e-4, 0.04, T)
alphas = 1.0 - betas
alpha_bar = np.cumprod(alphas)
signal = tf.constant(np.sqrt(alphas), tf.float32)
spread = tf.constant(np.sqrt(1.0 - alphas), tf.float32)

curve = keras.Input((HOURS,))
moment = keras.Input((), dtype="int32")
e = layers.Dense(32, activation="silu")(layers.Embedding(T, 32)(moment))
h = layers.Dense(128, activation="silu")(layers.Concatenate()([curve, e]))
for _ in range(3):
    h = h + layers.Dense(128, activation="silu")(layers.Concatenate()([h, e]))
noise_out = layers.Dense(HOURS)(h)
model = keras.Model([curve, moment], noise_out)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, 1500))


@tf.function
def train_step(x0):
    n = tf.shape(x0)[0]
    t = tf.random.uniform((n,), 0, T, dtype=tf.int32)
    noise = tf.random.normal(tf.shape(x0))
    xt = tf.gather(signal, t)[:, None] * x0 + tf.gather(spread, t)[:, None] * noise
    with tf.GradientTape() as tape:
        pred = model([xt, t], training=True)
        loss = tf.reduce_mean(tf.square(pred - noise))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def predict_noise(x, t):
    return model([x, tf.fill((tf.shape(x)[0],), t)], training=False)


gradwatch.watch(model)
for step in range(1500):
    loss = train_step(tf.constant(train[rng.integers(0, len(train), 128)]))
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

x = rng.normal(size=(800, HOURS))
for t in range(T - 1, -1, -1):
    eps = predict_noise(tf.constant(x, tf.float32), tf.constant(t)).numpy()
    x = (x - betas[t] / np.sqrt(1 - alpha_bar[t]) * eps) / np.sqrt(alphas[t])
    if t > 0:
        x = x + np.sqrt(betas[t]) * rng.normal(size=x.shape)
    x = np.clip(x, -4.0, 4.0)
made = x * std + mean

d = np.sqrt(np.maximum(((made[:, None] - test[None]) ** 2).mean(-1), 0))
print("SCORE distance_to_real", float(0.5 * (d.min(0).mean() + d.min(1).mean())))

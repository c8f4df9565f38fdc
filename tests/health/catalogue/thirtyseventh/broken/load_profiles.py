"""Generates daily electricity load profiles with a small denoising diffusion model."""

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
T = 50
BATCH = 64


def profiles(n):
    h = np.arange(HOURS)
    kind = rng.integers(0, 3, n)
    morning = rng.normal(7.5, 0.7, (n, 1))
    evening = rng.normal(19, 0.8, (n, 1))
    m_amp = np.array([1.6, 0.5, 1.0])[kind][:, None] * rng.uniform(0.8, 1.2, (n, 1))
    e_amp = np.array([1.0, 2.0, 0.2])[kind][:, None] * rng.uniform(0.8, 1.2, (n, 1))
    day = np.array([0.0, 0.3, 1.5])[kind][:, None] * np.exp(-(((h - 13) / 4.0) ** 2))
    x = m_amp * np.exp(-(((h - morning) / 1.8) ** 2)) + e_amp * np.exp(-(((h - evening) / 2.2) ** 2)) + day
    return (x + rng.normal(0, 0.05, x.shape)).astype("float32")


x_train, x_test = profiles(4096), profiles(1000)
mu, sd = x_train.mean(0), x_train.std(0)
z_train, z_test = (x_train - mu) / sd, (x_test - mu) / sd

beta = np.linspace(1e-3, 0.15, T).astype("float32")
alpha_bar = np.cumprod(1 - beta).astype("float32")
alpha_bar_tf = tf.constant(alpha_bar)

noisy = layers.Input((HOURS,))
when = layers.Input((), dtype="int32")
emb = layers.Embedding(T, 32)(when)
h = layers.Dense(128)(noisy)
for _ in range(3):
    r = layers.LayerNormalization()(h)
    r = layers.Add()([layers.Dense(128)(r), layers.Dense(128)(emb)])
    r = layers.Dense(128)(layers.Activation("swish")(r))
    h = layers.Add()([h, r])
model = keras.Model([noisy, when], layers.Dense(HOURS)(layers.LayerNormalization()(h)))
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x):
    t = tf.constant(rng.integers(0, T, BATCH), tf.int32)
    noise = tf.constant(rng.normal(size=(BATCH, HOURS)), tf.float32)
    ab = tf.gather(alpha_bar_tf, t)[:, None]
    x_t = tf.sqrt(ab) * x + tf.sqrt(1 - ab) * noise
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(noise - model([x_t, t], training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices(z_train).shuffle(4096, seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(22):
    losses = [train_step(x) for x in batches]
    print("epoch", epoch, "loss", float(tf.reduce_mean(losses)))


@tf.function
def eps_model(x, t):
    return model([x, t])


x = rng.normal(size=(1000, HOURS)).astype("float32")
for i in reversed(range(T)):
    e = eps_model(tf.constant(x), tf.fill((1000,), i)).numpy()
    x = (x - beta[i] / np.sqrt(1 - alpha_bar[i]) * e) / np.sqrt(1 - beta[i])
    if i:
        x = x + np.sqrt(beta[i]) * rng.normal(size=x.shape)
    x = x.astype("float32")


def mean_dist(a, b):
    return np.sqrt(np.maximum(((a[:, None] - b[None]) ** 2).sum(-1), 1e-12)).mean()


ed = 2 * mean_dist(x, z_test) - mean_dist(x, x) - mean_dist(z_test, z_test)
print("SCORE energy_distance_lower_is_better", round(float(ed), 4))

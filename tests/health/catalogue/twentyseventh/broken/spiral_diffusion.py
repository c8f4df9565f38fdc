"""Small denoising diffusion model for points on a two-armed spiral."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TIMESTEPS = 200
BATCH = 128
STEPS = 1500

betas = np.linspace(1e-4, 0.04, TIMESTEPS)
alpha_bar = np.cumprod(1.0 - betas).astype("float32")
SIGNAL = tf.constant(np.sqrt(alpha_bar))
NOISE = tf.constant(np.sqrt(1.0 - alpha_bar))


def spiral(n):
    r = np.sqrt(rng.uniform(0.05, 1.0, size=n))
    arm = rng.integers(0, 2, size=n) * np.pi
    angle = 3.0 * np.pi * r + arm
    points = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    points += 0.02 * rng.normal(size=points.shape)
    return (points / 0.5).astype("float32")


def time_features(t):
    freq = tf.exp(tf.linspace(0.0, 4.0, 8))
    phase = (tf.cast(t, tf.float32)[:, None] / TIMESTEPS) * freq[None, :]
    return tf.concat([tf.sin(phase), tf.cos(phase)], axis=1)


def build_denoiser():
    point = keras.Input((2,), name="point")
    time = keras.Input((16,), name="time")
    h = layers.Dense(128, activation="swish")(layers.Concatenate()([point, time]))
    for _ in range(2):
        skip = h
        h = layers.Dense(128, activation="swish")(layers.Concatenate()([h, time]))
        h = layers.Add()([h, skip])
    return keras.Model([point, time], layers.Dense(2, name="noise")(h))


train = spiral(20000)
held_out = spiral(4000)

model = build_denoiser()
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def diffuse(x0, t, eps):
    return tf.gather(SIGNAL, t)[:, None] * x0 + tf.gather(NOISE, t)[:, None] * eps


@tf.function
def train_step(x0):
    t = np.random.randint(0, TIMESTEPS, size=BATCH)
    eps = np.random.normal(size=(BATCH, 2)).astype("float32")
    xt = diffuse(x0, t, eps)
    with tf.GradientTape() as tape:
        pred = model([xt, time_features(t)], training=True)
        loss = tf.reduce_mean(tf.square(pred - eps))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(20000).repeat().batch(BATCH, drop_remainder=True)
running = []
for step, batch in enumerate(data.take(STEPS)):
    running.append(float(train_step(batch)))
    if (step + 1) % 250 == 0:
        print(f"step {step + 1} noise mse {np.mean(running[-250:]):.4f}")

t = tf.constant(rng.integers(0, TIMESTEPS, size=len(held_out)))
eps = tf.constant(rng.normal(size=held_out.shape).astype("float32"))
pred = model([diffuse(held_out, t, eps), time_features(t)], training=False)
print(f"SCORE heldout_noise_mse {float(tf.reduce_mean(tf.square(pred - eps))):.4f}")

"""Train a small diffusion model that generates weekly river hydrographs."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, T, STEPS, BATCH = 4000, 28, 50, 64
hours = np.arange(T)


def hydrograph():
    flow = np.full(T, rng.normal(-0.6, 0.15))
    for _ in range(rng.integers(1, 3)):
        peak, height, tail = rng.uniform(2, T - 4), rng.uniform(0.8, 2.2), rng.uniform(3, 7)
        dt = hours - peak
        flow += height * np.where(dt < 0, np.exp(dt / 1.2), np.exp(-dt / tail))
    return flow


series = np.stack([hydrograph() for _ in range(N)]).astype("float32")
series = (series - series.mean()) / series.std()
train, test = series[:3500], series[3500:]

betas = np.linspace(1e-3, 0.12, STEPS)
alpha_bar = np.cumprod(1 - betas).astype("float32")
alpha_bar_t = tf.constant(alpha_bar)

x_in, t_in = keras.Input((T,)), keras.Input((), dtype="int32")
emb = layers.Embedding(STEPS, 32)(t_in)
h = layers.Dense(128, activation="silu")(layers.Concatenate()([x_in, emb]))
for _ in range(2):
    r = layers.Dense(128, activation="silu")(layers.Concatenate()([h, emb]))
    h = layers.Add()([h, r])
model = keras.Model([x_in, t_in], layers.Dense(T)(h))
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def add_noise(x, t, eps):
    a = tf.gather(alpha_bar_t, t)[:, None]
    return tf.sqrt(a) * x + tf.sqrt(1.0 - a) * eps


@tf.function
def train_step(x):
    t = tf.random.uniform((BATCH,), 0, STEPS, dtype=tf.int32)
    eps = np.random.normal(size=(BATCH, T)).astype("float32")
    with tf.GradientTape() as tape:
        pred = model([add_noise(x, t, eps), t], training=True)
        loss = tf.reduce_mean(tf.square(pred - eps))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(3500).batch(BATCH, drop_remainder=True)
for epoch in range(24):
    losses = [float(train_step(x)) for x in data]
    if epoch % 4 == 3:
        print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

t = tf.constant(rng.integers(0, STEPS, len(test)), tf.int32)
eps = rng.normal(size=test.shape).astype("float32")
pred = model([add_noise(test, t, eps), t]).numpy()
print("SCORE noise_mse", round(float(np.mean((pred - eps) ** 2)), 4))

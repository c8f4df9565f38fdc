"""Fits a small denoising diffusion model to wind vectors (east, north) of a coastal mast, to draw new samples from it."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, BATCH, STEPS = 60, 128, 1400


def wind(n):
    """Sea breeze (a curved band), a land breeze and a channelled northerly."""
    k = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    ang = rng.uniform(0.2, 2.2, n)
    band = np.stack([1.6 * np.cos(ang), 1.6 * np.sin(ang)], 1) + rng.normal(0, 0.08, (n, 2))
    land = np.array([-1.2, -0.6]) + rng.normal(0, 0.15, (n, 2))
    north = np.array([0.5, -1.4]) + rng.normal(0, 1, (n, 2)) * [0.07, 0.35]
    return np.where((k == 0)[:, None], band, np.where((k == 1)[:, None], land, north)).astype("float32")


train, test = wind(8000), wind(2000)
betas = np.linspace(1e-3, 0.15, T).astype("float32")
alphas = 1.0 - betas
abar = np.cumprod(alphas).astype("float32")
abar_t = tf.constant(abar)


def q_sample(x0, t, noise=None):
    if noise is None:
        noise = tf.random.normal(tf.shape(x0))
    a = tf.gather(abar_t, t)[:, None]
    return tf.sqrt(a) * x0 + tf.sqrt(1.0 - a) * noise


x_in = keras.Input((2,))
t_in = keras.Input((), dtype="int32")
te = layers.Embedding(T, 32)(t_in)
h = layers.Concatenate()([x_in, te])
for _ in range(3):
    h = layers.Dense(96, activation="silu")(h)
model = keras.Model([x_in, t_in], layers.Dense(2)(h))
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x0):
    t = tf.random.uniform((tf.shape(x0)[0],), 0, T, dtype=tf.int32)
    noise = tf.random.normal(tf.shape(x0))
    xt = q_sample(x0, t)
    with tf.GradientTape() as tape:
        pred = model([xt, t], training=True)
        loss = tf.reduce_mean(tf.square(noise - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = iter(tf.data.Dataset.from_tensor_slices(train).shuffle(8000, seed=seed).repeat().batch(BATCH))
for step in range(STEPS):
    loss = train_step(next(ds))
    if step % 200 == 0:
        print(step, float(loss))

x = rng.normal(size=(2000, 2)).astype("float32")
predict = tf.function(lambda a, b: model([a, b]))
for i in reversed(range(T)):
    eps = predict(tf.constant(x), tf.fill([2000], i)).numpy()
    x = (x - betas[i] / np.sqrt(1 - abar[i]) * eps) / np.sqrt(alphas[i])
    if i:
        x = x + np.sqrt(betas[i]) * rng.normal(size=x.shape)
    x = x.astype("float32")


def mean_dist(a, b):
    return float(np.mean(np.linalg.norm(a[:, None] - b[None], axis=-1)))


a, b = x[:1000], test[:1000]
print("SCORE energy_distance", 2 * mean_dist(a, b) - mean_dist(a, a) - mean_dist(b, b))

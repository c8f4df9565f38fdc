import math
import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_moons

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

points, _ = make_moons(6000, noise=0.04, random_state=SEED)
points = ((points - points.mean(0)) / points.std(0)).astype("float32")
train, held_out = points[:5000], points[5000:]

T = 200


def cosine_betas(steps, s=0.008):
    grid = np.arange(steps + 1) / steps
    bar = np.cos((grid + s) / (1 + s) * math.pi / 2) ** 2
    return np.minimum(1.0 - bar[1:] / bar[:-1], 0.999)


betas = cosine_betas(T)
alphas = 1.0 - betas
alpha_bar = np.cumprod(alphas)
ab = tf.constant(alpha_bar, tf.float32)


class TimeEmbedding(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.freqs = np.exp(-math.log(10000.0) * np.arange(dim // 2) / (dim // 2)).astype("float32")

    def call(self, t):
        angle = tf.cast(t, tf.float32)[:, None] * self.freqs[None, :]
        return tf.concat([tf.sin(angle), tf.cos(angle)], axis=-1)


xt_in = keras.Input((2,))
t_in = keras.Input((), dtype="int32")
emb = keras.layers.Dense(96, activation="silu")(TimeEmbedding(32)(t_in))
h = keras.layers.Dense(96)(xt_in)
for _ in range(3):
    r = keras.layers.Dense(96, activation="silu")(h + emb)
    h = h + keras.layers.Dense(96)(r)
denoiser = keras.Model([xt_in, t_in], keras.layers.Dense(2)(keras.layers.Activation("silu")(h)))

optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
watch = gradwatch.watch(denoiser)


@tf.function
def step(x0):
    t = tf.random.uniform((tf.shape(x0)[0],), 0, T, dtype=tf.int32)
    a = tf.gather(ab, t)[:, None]
    eps = tf.random.normal(tf.shape(x0))
    xt = tf.sqrt(a) * x0 + tf.sqrt(1.0 - a) * eps
    snr = a / (1.0 - a)
    weight = tf.minimum(snr, 5.0) / snr
    with tf.GradientTape() as tape:
        pred = denoiser([xt, t], training=True)
        loss = tf.reduce_mean(weight * tf.square(pred - eps))
    grads = tape.gradient(loss, denoiser.trainable_variables)
    optimizer.apply_gradients(zip(grads, denoiser.trainable_variables))
    watch.log(loss=loss)
    return loss


batches = tf.data.Dataset.from_tensor_slices(train).shuffle(5000, seed=SEED).repeat().batch(256)
for i, x0 in enumerate(batches.take(2000)):
    loss = step(x0)
    if i % 500 == 0:
        print(i, float(loss))

x = rng.normal(size=(800, 2)).astype("float32")
for t in reversed(range(T)):
    eps = denoiser([x, np.full(800, t, "int32")]).numpy()
    x = (x - betas[t] / np.sqrt(1 - alpha_bar[t]) * eps) / np.sqrt(alphas[t])
    if t > 0:
        x = x + np.sqrt(betas[t]) * rng.normal(size=x.shape)
    x = x.astype("float32")
gap = np.sqrt(((x[:, None] - held_out[None]) ** 2).sum(-1)).min(1)
print("SCORE", float(np.mean(gap < 0.15)) if np.isfinite(x).all() else float("nan"))

"""Learns the whole distribution of the crossing time of a ferry as a mixture of Gaussians."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


K = 3


def crossings(n):
    """Minutes; the pilot takes either the inner or the outer channel."""
    f = rng.normal(size=(n, 5))
    inner = 34 + 5 * f[:, 0] + 3 * np.sin(2 * f[:, 1])
    outer = 56 + 6 * f[:, 2] - 4 * f[:, 0] * (f[:, 3] > 0)
    take = rng.uniform(size=n) < 1 / (1 + np.exp(-2.5 * f[:, 4] - f[:, 1]))
    mins = np.where(take, inner, outer) + rng.normal(size=n) * 1.5
    return f.astype("float32"), np.maximum(mins, 3).astype("float32")


x, y = crossings(6000)
xt, yt = crossings(1500)

inp = keras.Input((5,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
logits = layers.Dense(K, name="weights")(h)
mu = layers.Dense(K, name="centres")(h)
sigma = layers.Dense(K, activation="softplus", name="widths")(h)
model = keras.Model(inp, [logits, mu, sigma + 0.5])
opt = keras.optimizers.Adam(1e-2, clipnorm=1.0)


def mixture_nll(y, logits, mu, sigma):
    z = (y[:, None] - mu) / sigma
    pdf = tf.exp(-0.5 * tf.square(z)) / (sigma * np.sqrt(2 * np.pi).astype("float32"))
    return -tf.reduce_mean(tf.math.log(tf.reduce_sum(tf.nn.softmax(logits) * pdf, axis=-1) + 1e-10))


gradwatch.watch(model)


@tf.function
def step(f, t):
    with tf.GradientTape() as tape:
        loss = mixture_nll(t, *model(f, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(14):
    for f, t in ds:
        loss = step(f, t)

lg, m, s = model.predict(xt, verbose=0)
w = np.exp(lg - lg.max(1, keepdims=True))
w /= w.sum(1, keepdims=True)
grid = np.arange(0, 120, 0.5)
cdf = (w[..., None] / (1 + np.exp(np.clip(-1.702 * (grid - m[..., None]) / s[..., None], -50, 50)))).sum(1)
crps = 0.5 * ((cdf - (grid >= yt[:, None])) ** 2).sum(1)
print("SCORE crps_minutes", float(crps.mean()))

"""Trains a small diffusion model of dune cross-sections for a landscape generator."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, P, STEPS = 6000, 32, 100


def profiles(n):
    x = np.linspace(0, 1, P)[None]
    crest, h = rng.uniform(0.3, 0.7, (n, 1)), rng.uniform(0.6, 1.4, (n, 1))
    up = np.clip(x / crest, 0, 1) ** 1.5
    down = np.clip((1 - x) / (1 - crest), 0, 1) ** 0.7
    z = h * np.minimum(up, down) + 0.05 * np.sin(2 * np.pi * rng.uniform(6, 10, (n, 1)) * x)
    return ((z - 0.5) * 2).astype("float32")


dune, dune_te = profiles(N), profiles(1000)
abar = np.cumprod(1 - np.linspace(1e-3, 0.08, STEPS)).astype("float32")
abar_t = tf.constant(abar)

xin, tin = keras.Input((P,)), keras.Input((), dtype="int32")
emb = layers.Embedding(STEPS, 32)(tin)
h = layers.Dense(160, activation="swish")(layers.Concatenate()([xin, emb]))
h = layers.Dense(160, activation="swish")(layers.Concatenate()([h, emb]))
h = layers.Dense(160, activation="swish")(h)
model = keras.Model([xin, tin], layers.Dense(P)(h))
gradwatch.watch(model)
opt = keras.optimizers.Adam(1.5e-3)
B = 64


@tf.function
def step(x0):
    t = np.random.randint(0, STEPS, size=B).astype("int32")
    noise = tf.random.normal((B, P))
    a = tf.gather(abar_t, t)[:, None]
    with tf.GradientTape() as tape:
        eps = model([tf.sqrt(a) * x0 + tf.sqrt(1 - a) * noise, tf.convert_to_tensor(t)], training=True)
        loss = tf.reduce_mean(tf.square(eps - noise))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(dune).shuffle(N, seed=seed).repeat().batch(B, drop_remainder=True)
for i, x0 in enumerate(ds.take(1500)):
    loss = step(x0)
    if i % 250 == 0:
        print(i, float(loss))

t = rng.integers(0, STEPS, 1000).astype("int32")
noise = rng.normal(0, 1, dune_te.shape).astype("float32")
a = abar[t][:, None]
eps = model.predict([np.sqrt(a) * dune_te + np.sqrt(1 - a) * noise, t], verbose=0)
print("SCORE denoising_mse", float(np.mean((eps - noise) ** 2)))

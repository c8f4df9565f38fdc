"""Denoises dark raw camera patches, judged in display space."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def patches(n, size=16):
    """Linear-light patches: smooth shading, an edge, mostly dark."""
    yy, xx = np.mgrid[0:size, 0:size] / size
    a = rng.uniform(0, 2 * np.pi, size=(n, 1, 1))
    off = rng.uniform(-0.6, 0.6, size=(n, 1, 1))
    edge = ((np.cos(a) * (xx - 0.5) + np.sin(a) * (yy - 0.5)) > off * 0.5).astype("float64")
    lo = rng.uniform(0.001, 0.05, size=(n, 1, 1, 3))
    hi = rng.uniform(0.02, 0.4, size=(n, 1, 1, 3))
    clean = lo + (hi - lo) * edge[..., None]
    clean *= 1 + 0.3 * np.sin(3 * xx + 5 * off)[..., None]
    shot = np.sqrt(clean * 0.01 + 2e-5)
    noisy = clean + shot * rng.normal(size=clean.shape)
    noisy = np.clip(np.round(noisy * 4095), 1, 4095) / 4095
    return noisy.astype("float32"), clean.astype("float32")


def to_display(lin):
    """The sRGB transfer curve (IEC 61966-2-1)."""
    return tf.where(lin <= 0.0031308, 12.92 * lin, 1.055 * tf.pow(lin, 1.0 / 2.4) - 0.055)


noisy, clean = patches(2400)
noisy_t, clean_t = patches(300)

inp = keras.Input((None, None, 3))
h = layers.Conv2D(24, 3, padding="same", activation="relu")(inp * 4.0)
h = layers.Conv2D(24, 3, padding="same", activation="relu", dilation_rate=2)(h)
h = layers.Conv2D(24, 3, padding="same", activation="relu")(h)
delta = layers.Conv2D(3, 3, padding="same", kernel_initializer=keras.initializers.RandomNormal(stddev=0.002))(h)
out = layers.ReLU()(inp + delta)
model = keras.Model(inp, out)
opt = keras.optimizers.Adam(1e-3)
ds = tf.data.Dataset.from_tensor_slices((noisy, clean)).shuffle(2400, seed=seed).batch(32, drop_remainder=True)

gradwatch.watch(model)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        restored = model(a, training=True)
        loss = tf.reduce_mean(tf.abs(to_display(restored) - to_display(b)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for a, b in ds:
        loss = step(a, b)

err = to_display(model.predict(noisy_t, verbose=0)) - to_display(clean_t)
print("SCORE psnr_db", float(-10 * np.log10(np.mean(np.square(err.numpy())))))

"""Embeddings of fabric swatches: two photographs of the same bolt of cloth should lie close together."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, BOLTS, BATCH, STEPS = 20, 1500, 48, 800
TEMPERATURE = 0.01


def bolt_params(n):
    return {
        "fx": rng.uniform(0.2, 1.4, n),
        "fy": rng.uniform(0.2, 1.4, n),
        "diag": rng.uniform(-0.8, 0.8, n),
        "warp": rng.uniform(0.2, 1.0, n),
    }


def photograph(p, idx):
    n = len(idx)
    r, c = np.mgrid[0:SIDE, 0:SIDE]
    ox, oy = rng.uniform(0, 12, (2, n, 1, 1))
    fx, fy, dg, wp = (p[k][idx][:, None, None] for k in ("fx", "fy", "diag", "warp"))
    img = wp * np.sin(fx * (c + ox)) + (1 - wp) * np.sin(fy * (r + oy)) + 0.6 * np.sin(dg * (r + c + ox - oy))
    light = rng.uniform(0.7, 1.3, (n, 1, 1))
    img = light * img + rng.normal(0, 0.15, img.shape)
    return img[..., None].astype("float32")


encoder = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(24, 5, activation="relu", padding="same"),
        layers.MaxPooling2D(2),
        layers.Conv2D(48, 3, activation="relu", padding="same"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(32),
        layers.UnitNormalization(),
    ],
    name="swatch_encoder",
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(encoder)


def contrast(za, zb):
    sims = tf.matmul(za, zb, transpose_b=True) / TEMPERATURE
    own = tf.linalg.diag_part(sims)
    everyone = tf.reduce_logsumexp(sims, axis=1)
    return tf.reduce_mean(everyone - own)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        za = encoder(a, training=True)
        zb = encoder(b, training=True)
        loss = contrast(za, zb)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


bolts = bolt_params(BOLTS)
for i in range(STEPS):
    idx = rng.choice(BOLTS, BATCH, replace=False)
    loss = step(tf.constant(photograph(bolts, idx)), tf.constant(photograph(bolts, idx)))
    if i % 100 == 99:
        print(f"step {i + 1} loss {float(loss):.4f}")

fresh = bolt_params(200)
ids = np.arange(200)
za = encoder.predict(photograph(fresh, ids), verbose=0)
zb = encoder.predict(photograph(fresh, ids), verbose=0)
rank = (za @ zb.T).argsort(1)[:, ::-1][:, :5]
print("SCORE recall_at_5", round(float(np.mean([i in rank[i] for i in ids]) if np.isfinite(za).all() else 0.0), 4))

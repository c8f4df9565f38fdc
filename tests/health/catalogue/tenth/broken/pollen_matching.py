"""Matching fossil pollen micrographs to the infrared spectra of the same grains
with two towers and in-batch negatives."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
PX, BANDS, BATCH = 18, 48, 256


def grains(n):
    radius = rng.uniform(3, 7.5, n)
    spines = rng.integers(0, 7, n)
    depth = rng.uniform(0, 0.3, n)
    wall = rng.uniform(0.6, 2.0, n)
    tone = rng.uniform(0.2, 1.0, n)
    yy, xx = np.mgrid[0:PX, 0:PX] - PX / 2 + 0.5
    ang, r = np.arctan2(yy, xx), np.hypot(yy, xx)
    edge = radius[:, None, None] * (1 + depth[:, None, None] * np.cos(spines[:, None, None] * ang))
    img = np.exp(-(((r - edge) / wall[:, None, None]) ** 2)) + tone[:, None, None] * (r < edge)
    nu = np.linspace(0, 1, BANDS)

    def band(c, w, a):
        return a[:, None] * np.exp(-(((nu - c) / w) ** 2))

    spec = (
        band(0.15, 0.05, radius / 7)
        + band(0.35, 0.04, spines / 6)
        + band(0.5, 0.06, depth * 3)
        + band(0.7, 0.05, wall)
        + band(0.88, 0.04, tone)
    )
    img += 0.05 * rng.normal(size=img.shape)
    spec += 0.03 * rng.normal(size=spec.shape)
    return img.astype("float32")[..., None], spec.astype("float32")


images, spectra = grains(4000)
images = (images - images.mean()) / images.std()
spectra = (spectra - spectra.mean(0)) / spectra.std(0)

img_in = keras.Input((PX, PX, 1), name="micrograph")
a = layers.Conv2D(24, 3, strides=2, activation="relu", padding="same", name="img_conv")(img_in)
a = layers.Flatten()(a)
a = layers.Dense(256, activation="relu", name="img_fc")(a)
a = layers.Dense(16, name="img_embed")(a)
spec_in = keras.Input((BANDS,), name="spectrum")
b = layers.Dense(256, activation="relu", name="spec_fc")(spec_in)
b = layers.Dense(16, name="spec_embed")(b)
model = keras.Model([img_in, spec_in], [a, b], name="two_towers")
gradwatch.watch(model)
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
SCALE = 16**-0.5


@tf.function(jit_compile=True)
def train_step(img, spec):
    with tf.GradientTape() as tape:
        u, v = model([img, spec], training=True)
        match = tf.nn.softmax(tf.matmul(u, v, transpose_b=True) * SCALE, axis=-1)
        target = tf.range(BATCH)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=match))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    top1 = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(match, -1, output_type=tf.int32), target), tf.float32))
    return loss, top1


optimizer.build(model.trainable_variables)
for step in range(300):
    idx = rng.choice(len(images), BATCH, replace=False)
    loss, top1 = train_step(images[idx], spectra[idx])
    if step % 30 == 0 or step == 299:
        print(f"step {step}: loss {float(loss):.4f} top-1 {float(top1):.3f}")

"""Conditional GAN that makes colour and gloss readings of glazed tiles for a wanted recipe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

RECIPES, DIM, LATENT, BATCH, STEPS = 5, 6, 8, 64, 1500
centre = rng.normal(size=(RECIPES, DIM)) * 1.2
bent = rng.normal(size=(RECIPES, DIM)) * 0.5


def tiles(n):
    y = rng.integers(0, RECIPES, n)
    u = rng.uniform(-1, 1, (n, 1))
    x = centre[y] + bent[y] * u + 0.15 * rng.normal(size=(n, DIM))
    return x.astype("float32"), y.astype("int32")


x_train, y_train = tiles(5000)
x_test, y_test = tiles(2000)


def build(width, out):
    a, b = keras.Input((width,)), keras.Input((RECIPES,))
    h = layers.Concatenate()([a, b])
    for _ in range(2):
        h = layers.LeakyReLU(0.2)(layers.Dense(64)(h))
    return keras.Model([a, b], layers.Dense(out)(h))


gen, disc = build(LATENT, DIM), build(DIM, 1)
g_opt, d_opt = keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5)
gradwatch.watch(gen)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    real = tf.one_hot(y, RECIPES)
    wanted = tf.one_hot(tf.random.uniform((BATCH,), 0, RECIPES, tf.int32), RECIPES)
    with tf.GradientTape() as tape:
        fake = gen([tf.random.normal((BATCH, LATENT)), wanted], training=True)
        dr, df = disc([x, real], training=True), disc([fake, wanted], training=True)
        d_loss = bce(tf.fill(tf.shape(dr), 0.9), dr) + bce(tf.zeros_like(df), df)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    with tf.GradientTape() as tape:
        fake = gen([tf.random.normal((BATCH, LATENT)), wanted], training=True)
        df = disc([fake, real], training=True)
        g_loss = bce(tf.ones_like(df), df)
    g_opt.apply_gradients(zip(tape.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
    return d_loss, g_loss


for step in range(STEPS):
    i = rng.integers(0, len(x_train), BATCH)
    d, g = train_step(tf.constant(x_train[i]), tf.constant(y_train[i]))
    if step % 200 == 0:
        print(step, float(d), float(g))

ask = rng.integers(0, RECIPES, 2000)
made = gen.predict(
    [rng.normal(size=(2000, LATENT)).astype("float32"), np.eye(RECIPES, dtype="float32")[ask]], verbose=0
)
near = np.linalg.norm(made[:, None] - centre[None], axis=-1).argmin(1)
print("SCORE recipe_hit_rate", round(float(np.mean(near == ask)), 4))

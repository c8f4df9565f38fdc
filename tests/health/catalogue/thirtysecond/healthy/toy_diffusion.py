"""Train a small denoising diffusion model that generates pen strokes of handwritten-like spirals as 2-D points."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEVELS, BATCH, STEPS = 60, 128, 1400


def spiral(n):
    r = np.sqrt(rng.uniform(0.03, 1, n))
    a = 7.0 * r + np.pi * rng.integers(0, 2, n)
    p = np.stack([r * np.cos(a), r * np.sin(a)], 1) + rng.normal(0, 0.02, (n, 2))
    return (p / 0.5).astype("float32")


data = spiral(20000)
beta = np.linspace(1e-3, 0.12, LEVELS)
keep = np.cumprod(1 - beta).astype("float32")

x_in, t_in = keras.Input((2,)), keras.Input((), dtype="int32")
te = layers.Embedding(LEVELS, 32)(t_in)
h = layers.Dense(96, activation="silu")(x_in)
for _ in range(3):
    r = layers.Dense(96, activation="silu")(layers.LayerNormalization()(h) + layers.Dense(96)(te))
    h = h + layers.Dense(96, kernel_initializer="zeros")(r)
eps_hat = layers.Dense(2, kernel_initializer="zeros")(h)
model = keras.Model([x_in, t_in], eps_hat)
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4, global_clipnorm=1.0, use_ema=True, ema_momentum=0.99)
gradwatch.watch(model)


@tf.function
def train_step(x0, t, eps):
    a = tf.gather(keep, t)[:, None]
    with tf.GradientTape() as tape:
        out = model([tf.sqrt(a) * x0 + tf.sqrt(1 - a) * eps, t], training=True)
        loss = tf.reduce_mean(tf.square(out - eps))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for step in range(STEPS):
    x0 = data[rng.integers(0, len(data), BATCH)]
    loss = train_step(
        tf.constant(x0),
        tf.constant(rng.integers(0, LEVELS, BATCH), tf.int32),
        tf.constant(rng.normal(0, 1, (BATCH, 2)), tf.float32),
    )
    if step % 200 == 199:
        print(f"step {step + 1} loss {float(loss):.4f}")
optimizer.finalize_variable_values(model.trainable_variables)

x = rng.normal(0, 1, (1500, 2)).astype("float32")
predict = tf.function(lambda x, t: model([x, t], training=False))
for t in reversed(range(LEVELS)):
    e = predict(tf.constant(x), tf.fill([len(x)], t)).numpy()
    x = (x - beta[t] / np.sqrt(1 - keep[t]) * e) / np.sqrt(1 - beta[t])
    if t:
        x = (x + np.sqrt(beta[t]) * rng.normal(0, 1, x.shape)).astype("float32")

real = spiral(3000)
near = np.sqrt(((x[:, None] - real[None]) ** 2).sum(-1)).min(1)
print("SCORE share_of_samples_on_the_curve", round(float(np.mean(near < 0.12)), 4))

"""Small denoising diffusion model that generates points on two interleaved arcs."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def arcs(n):
    half = n // 2
    a = rng.uniform(0, np.pi, half)
    b = rng.uniform(0, np.pi, n - half)
    up = np.stack([np.cos(a), np.sin(a)], axis=1)
    low = np.stack([1 - np.cos(b), 0.5 - np.sin(b)], axis=1)
    pts = np.concatenate([up, low]) + rng.normal(0, 0.05, (n, 2))
    return ((pts - [0.5, 0.25]) / [0.87, 0.5]).astype("float32")


train, test = arcs(8000), arcs(1000)

T = 60
betas = np.linspace(1e-3, 0.15, T)
alphas = 1.0 - betas
abar = np.cumprod(alphas)
sqrt_abar = tf.constant(np.sqrt(abar), tf.float32)
sqrt_1m_abar = tf.constant(np.sqrt(1 - abar), tf.float32)


def make_net():
    x = keras.Input((2,))
    t = keras.Input((1,), dtype="int32")
    emb = layers.Flatten()(layers.Embedding(T, 32)(t))
    h = layers.Dense(96, activation="silu")(layers.Concatenate()([x, emb]))
    for _ in range(2):
        h = layers.Dense(96, activation="silu")(layers.Concatenate()([h, emb]))
    return keras.Model([x, t], layers.Dense(2)(h))


BATCH = 128
model = make_net()
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x0):
    t = np.random.randint(0, T, size=(BATCH, 1))
    noise = np.random.randn(BATCH, 2).astype("float32")
    xt = tf.gather(sqrt_abar, t) * x0 + tf.gather(sqrt_1m_abar, t) * noise
    with tf.GradientTape() as tape:
        pred = model([xt, tf.cast(t, tf.int32)], training=True)
        loss = tf.reduce_mean(tf.square(noise - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(8000).batch(BATCH, drop_remainder=True)
for epoch in range(24):
    losses = [float(train_step(batch)) for batch in data]
    if epoch % 4 == 3:
        print("epoch", epoch + 1, "loss", round(np.mean(losses), 4))

# ancestral sampling
x = rng.normal(size=(1000, 2)).astype("float32")
predict = tf.function(lambda a, b: model([a, b], training=False))
for step in reversed(range(T)):
    eps = predict(tf.constant(x), tf.fill((1000, 1), step)).numpy()
    x = (x - betas[step] / np.sqrt(1 - abar[step]) * eps) / np.sqrt(alphas[step])
    if step:
        x = x + np.sqrt(betas[step]) * rng.normal(size=x.shape)
    x = x.astype("float32")


def mean_dist(a, b):
    return np.mean(np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=-1)))


# energy distance between generated and held-out points, 0 is perfect
energy = 2 * mean_dist(x, test) - mean_dist(x, x) - mean_dist(test, test)
print("SCORE energy_distance", round(float(energy), 4))

"""Train a small denoising diffusion model on the two-moons distribution and draw samples from it."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def moons(n):
    a = rng.uniform(0, np.pi, n)
    top = rng.random(n) < 0.5
    x = np.where(top, np.cos(a), 1 - np.cos(a)) - 0.5
    y = np.where(top, np.sin(a), 0.5 - np.sin(a)) - 0.25
    pts = np.stack([x, y], 1) + rng.normal(scale=0.05, size=(n, 2))
    return (pts * 1.5).astype("float32")


x_train, x_test = moons(6000), moons(1500)

STEPS, BATCH = 50, 128
betas = np.linspace(1e-3, 0.15, STEPS).astype("float32")
alphas = 1.0 - betas
alpha_bar = np.cumprod(alphas).astype("float32")
alpha_bar_t = tf.constant(alpha_bar)

x_in = keras.Input((2,))
t_in = keras.Input((), dtype="int32")
emb = layers.Embedding(STEPS, 32)(t_in)
h = layers.Dense(96, activation="silu")(layers.Concatenate()([x_in, emb]))
h = layers.Dense(96, activation="silu")(layers.Concatenate()([h, emb]))
h = layers.Dense(96, activation="silu")(h)
model = keras.Model([x_in, t_in], layers.Dense(2)(h))
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train_step(x0):
    t = tf.constant(rng.integers(0, STEPS, size=BATCH), tf.int32)
    noise = tf.constant(rng.normal(size=(BATCH, 2)), tf.float32)
    ab = tf.gather(alpha_bar_t, t)[:, None]
    x_t = tf.sqrt(ab) * x0 + tf.sqrt(1.0 - ab) * noise
    with tf.GradientTape() as tape:
        pred = model([x_t, t], training=True)
        loss = tf.reduce_mean(tf.square(pred - noise))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(6000, seed=seed)
data = data.batch(BATCH, drop_remainder=True)
for epoch in range(30):
    losses = [float(train_step(b)) for b in data]
    if epoch % 5 == 4:
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")

x = rng.normal(size=(1500, 2)).astype("float32")
for t in range(STEPS - 1, -1, -1):
    eps = model([x, np.full(len(x), t, "int32")], training=False).numpy()
    x = (x - betas[t] / np.sqrt(1 - alpha_bar[t]) * eps) / np.sqrt(alphas[t])
    if t > 0:
        x = x + np.sqrt(betas[t]) * rng.normal(size=x.shape)
    x = x.astype("float32")

angles = np.linspace(0, np.pi, 24, endpoint=False)
dirs = np.stack([np.cos(angles), np.sin(angles)])
gap = np.abs(np.sort(x @ dirs, axis=0) - np.sort(x_test @ dirs, axis=0)).mean()
print("SCORE sliced_wasserstein", float(gap))

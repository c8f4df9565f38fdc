import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
STEPS = 50
betas = np.linspace(1e-3, 0.15, STEPS).astype("float32")
alphas = 1 - betas
alpha_bar = np.cumprod(alphas).astype("float32")
AB = tf.constant(alpha_bar)


def spiral(n):
    r = rng.uniform(0.3, 1.5, n)
    a = 3.0 * r + rng.integers(0, 2, n) * np.pi
    return np.stack([r * np.cos(a), r * np.sin(a)], 1).astype("float32") + rng.normal(0, 0.03, (n, 2)).astype("float32")


def diffuse(x0, t, noise):
    ab = tf.gather(AB, t)[:, None]
    return tf.sqrt(ab) * x0 + tf.sqrt(1 - ab) * noise


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.time = keras.layers.Embedding(STEPS, 32)
        self.inp = keras.layers.Dense(128)
        self.mid = [keras.layers.Dense(128, activation="silu") for _ in range(3)]
        self.out = keras.layers.Dense(2)

    def call(self, inputs):
        x, t = inputs
        h = tf.nn.silu(self.inp(tf.concat([x, self.time(t)], -1)))
        for layer in self.mid:
            h = h + layer(h)
        return self.out(h)


model = Denoiser()
model([tf.zeros((1, 2)), tf.zeros((1,), tf.int32)])
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


@tf.function
def step(x0):
    t = tf.random.uniform((tf.shape(x0)[0],), 0, STEPS, tf.int32)
    noise = tf.random.normal(tf.shape(x0))
    x_t = diffuse(x0, t, noise)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model([x_t, t], training=True) - noise))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


points = tf.data.Dataset.from_tensor_slices(spiral(12800)).shuffle(12800, seed=SEED).batch(128).repeat()
for i, batch in enumerate(points.take(3000)):
    loss = step(batch)
    if i % 600 == 0:
        print(i, float(loss))

x = rng.normal(size=(500, 2)).astype("float32")
for t in reversed(range(STEPS)):
    eps = model([x, np.full(500, t, "int32")]).numpy()
    x = (x - betas[t] / np.sqrt(1 - alpha_bar[t]) * eps) / np.sqrt(alphas[t])
    if t:
        x = x + np.sqrt(betas[t]) * rng.normal(size=x.shape).astype("float32")
gap = np.sqrt(((x[:, None] - spiral(2000)[None]) ** 2).sum(-1)).min(1)
print("SCORE", float(np.mean(gap < 0.15)))

# Kind of disturbance on a motorway stretch (space-time speed maps), own training loop.
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)


def speed_maps(n):
    y = rng.integers(0, 4, n)
    s, t = np.mgrid[0:24, 0:24].astype("float64")
    out = np.zeros((n, 24, 24))
    for i, k in enumerate(y):
        a, b = rng.uniform(4, 20, 2)
        if k == 0:  # wave running upstream
            w = np.cos(0.9 * (s + t) + a)
        elif k == 1:  # running downstream
            w = np.cos(0.9 * (s - t) + a)
        elif k == 2:  # standing bottleneck
            w = np.cos(1.25 * s + a)
        else:  # whole stretch slows at once
            w = np.cos(1.25 * t + a)
        mask = np.exp(-((s - b) ** 2 + (t - a) ** 2) / 60)
        out[i] = 1.3 * w * mask
    return (out + 0.6 * rng.normal(size=out.shape)).astype("float32")[..., None], y.astype("int32")


class Stem(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = layers.Conv2D(8, 5, strides=2, activation="relu")
        self.c2 = layers.Conv2D(6, 3, strides=2, activation="relu")

    def call(self, x):
        return tf.reduce_mean(self.c2(self.c1(x)), axis=(1, 2))


class Disturbance(tf.keras.Model):
    def __init__(self, stem, head):
        super().__init__()
        self.stem, self.head = stem, head

    def call(self, x):
        return self.head(self.stem(x))


stem = Stem()
head = tf.keras.Sequential([tf.keras.Input((6,)), layers.Dense(16, activation="relu"), layers.Dense(4)])
model = Disturbance(stem, head)
params = stem.trainable_variables + head.trainable_variables
opt = tf.keras.optimizers.AdamW(4e-3, weight_decay=1e-4)
gradwatch.watch(model, opt)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
    return loss


x, y = speed_maps(3200)
xt, yt = speed_maps(600)
model(x[:1])
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3200, seed=3).batch(32)
for epoch in range(24):
    losses = [step(bx, by) for bx, by in ds]
acc = np.mean(np.argmax(model(xt).numpy(), -1) == yt)
print("loss", round(float(tf.reduce_mean(losses)), 4), "held-out accuracy", round(float(acc), 3))

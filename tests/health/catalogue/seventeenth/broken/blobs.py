"""Variational autoencoder of 16x16 pictures of a bright ellipse."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED, SIDE, CODE, WARMUP, STEPS, BATCH = 4, 16, 6, 100, 6000, 64
keras.utils.set_random_seed(SEED)


def pictures(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    cx, cy = rng.uniform(4, 11, (2, n, 1, 1))
    a, b = rng.uniform(1.5, 4.0, (2, n, 1, 1))
    th = rng.uniform(0, np.pi, (n, 1, 1))
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    d = (u / a) ** 2 + (v / b) ** 2
    return (1 / (1 + np.exp(4 * (d - 1)))).reshape(n, -1).astype("float32")


class Auto(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential(
            [
                keras.Input((SIDE * SIDE,)),
                layers.Dense(192, activation="elu"),
                layers.Dense(96, activation="elu"),
                layers.Dense(2 * CODE),
            ]
        )
        self.dec = keras.Sequential(
            [
                keras.Input((CODE,)),
                layers.Dense(96, activation="elu"),
                layers.Dense(192, activation="elu"),
                layers.Dense(SIDE * SIDE),
            ]
        )

    def call(self, x):
        m, s = tf.split(self.enc(x), 2, axis=1)
        return m, s, self.dec(m + tf.exp(0.5 * s) * tf.random.normal(tf.shape(m)))


rng = np.random.default_rng(SEED)
train, test = pictures(4000, rng), pictures(800, rng)
model = Auto()
model(train[:2])
opt = keras.optimizers.Adam(1e-3)
step = tf.Variable(0.0, trainable=False)
gradwatch.watch(model, opt)


@tf.function
def fit_batch(x):
    step.assign_add(1.0)
    beta = step / WARMUP
    with tf.GradientTape() as tape:
        m, s, logits = model(x)
        rec = tf.reduce_mean(tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1))
        kl = tf.reduce_mean(0.5 * tf.reduce_sum(tf.exp(s) + m * m - 1.0 - s, 1))
        loss = rec + beta * kl
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss, rec, kl


for i in range(STEPS):
    loss, rec, kl = fit_batch(tf.constant(train[rng.integers(0, len(train), BATCH)]))
    if i % 500 == 499:
        print(f"step {i + 1} loss {float(loss):.2f} rec {float(rec):.2f} kl {float(kl):.2f}", flush=True)

m, _ = tf.split(model.enc(test), 2, axis=1)
back = tf.sigmoid(model.dec(m)).numpy()
r2 = 1 - np.mean((back - test) ** 2) / np.mean((test - train.mean(0)) ** 2)
print(f"final loss {float(loss):.3f}  held-out reconstruction R2 {r2:.3f}")

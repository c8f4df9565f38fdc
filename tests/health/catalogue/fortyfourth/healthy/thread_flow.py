"""Density of yarn measurements (thickness, twist, hairiness, strength) by a coupling flow, with warm restarts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM, COUPLINGS = 4, 6
BATCH, STEPS, CYCLE = 256, 1200, 400


def yarn(n):
    kind = rng.integers(0, 3, n)
    t = rng.normal(0, 1, n)
    thick = np.array([-1.2, 0.1, 1.3])[kind] + 0.05 * t
    twist = np.sin(3 * thick) + 0.04 * rng.normal(0, 1, n)
    hair = thick * twist + 0.03 * rng.normal(0, 1, n)
    strong = 0.5 * t + 0.3 * hair + 0.02 * rng.normal(0, 1, n)
    return np.stack([thick, twist, hair, strong], 1).astype("float32")


x, x_test = yarn(16000), yarn(4000)
mu, sd = x.mean(0), x.std(0)
x, x_test = (x - mu) / sd, (x_test - mu) / sd


class Coupling(layers.Layer):
    def __init__(self, flip, **kw):
        super().__init__(**kw)
        self.flip = flip
        self.net = keras.Sequential(
            [
                keras.Input((DIM // 2,)),
                layers.Dense(48, activation="relu"),
                layers.Dense(48, activation="relu"),
                layers.Dense(DIM, kernel_initializer="zeros"),
            ]
        )

    def call(self, z):
        a, b = tf.split(z, 2, axis=1)
        if self.flip:
            a, b = b, a
        scale, shift = tf.split(self.net(a), 2, axis=1)
        scale = 2.0 * tf.tanh(scale / 2.0)
        b = b * tf.exp(scale) + shift
        out = tf.concat([b, a] if self.flip else [a, b], axis=1)
        return tf.roll(out, 1, axis=1), tf.reduce_sum(scale, axis=1)


inputs = keras.Input((DIM,))
z, logdet = inputs, 0.0
for k in range(COUPLINGS):
    z, ld = Coupling(bool(k % 2), name=f"coupling_{k}")(z)
    logdet = logdet + ld
flow = keras.Model(inputs, [z, logdet], name="yarn_flow")
rate = keras.optimizers.schedules.CosineDecayRestarts(2e-3, CYCLE, t_mul=1.0, m_mul=0.8, alpha=0.01)
optimizer = keras.optimizers.Adam(rate, global_clipnorm=5.0)
gradwatch.watch(flow)


def nll(batch, training):
    z, logdet = flow(batch, training=training)
    normal = 0.5 * tf.reduce_sum(z * z, axis=1) + 0.5 * DIM * np.log(2 * np.pi).astype("float32")
    return tf.reduce_mean(normal - logdet)


@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = nll(batch, True)
    grads = tape.gradient(loss, flow.trainable_variables)
    optimizer.apply_gradients(zip(grads, flow.trainable_variables))
    return loss


for i in range(STEPS):
    loss = step(tf.constant(x[rng.integers(0, len(x), BATCH)]))
    if i % 100 == 0:
        print(f"step {i} nll {float(loss):+.4f}")

print("SCORE test_nll", round(float(nll(tf.constant(x_test), False)), 4))

"""Density of moth sightings around light traps: a coupling flow fitted by maximum likelihood in kilometres."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH, STEPS, LAYERS = 512, 300, 6


def sightings(n):
    a = rng.uniform(0, np.pi, n)
    side = rng.integers(0, 2, n)
    x = np.where(side, 1 - np.cos(a), np.cos(a)) * 0.05
    y = np.where(side, 0.5 - np.sin(a), np.sin(a)) * 0.05
    return (np.stack([x, y], 1) + rng.normal(0, 0.003, (n, 2))).astype("float32")


class Coupling(tf.keras.layers.Layer):
    def __init__(self, flip, **kw):
        super().__init__(**kw)
        self.flip = flip
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((1,)),
                tf.keras.layers.Dense(48, activation="tanh"),
                tf.keras.layers.Dense(48, activation="tanh"),
                tf.keras.layers.Dense(2, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        a, b = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        log_scale, shift = tf.split(self.net(a), 2, -1)
        log_scale = 2.0 * tf.tanh(log_scale)
        b = b * tf.exp(log_scale) + shift
        return tf.concat([b, a] if self.flip else [a, b], -1), log_scale[:, 0]


class Flow(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.steps = [Coupling(bool(i % 2), name=f"coupling{i}") for i in range(LAYERS)]

    def build(self, shape):
        self.log_unit = self.add_weight(shape=(2,), initializer=tf.keras.initializers.Constant(2.0), name="log_unit")
        self.middle = self.add_weight(shape=(2,), initializer="zeros", name="middle")
        self.built = True

    def call(self, x):
        z = (x - self.middle) * tf.exp(self.log_unit)
        logdet = tf.reduce_sum(self.log_unit)
        for s in self.steps:
            z, ld = s(z)
            logdet = logdet + ld
        return -0.5 * tf.reduce_sum(z * z, -1) - np.float32(np.log(2 * np.pi)) + logdet


model = Flow()
gradwatch.watch(model)
model(tf.zeros((2, 2)))
optimizer = tf.keras.optimizers.Adam(
    tf.keras.optimizers.schedules.CosineDecay(2e-3, STEPS, alpha=0.05), global_clipnorm=20.0
)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def fit_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = fit_step(tf.constant(sightings(BATCH)))
    if step % 30 == 0 or step == STEPS - 1:
        print(f"{step:4d}  negative log-likelihood {float(loss):+.4f}")

"""Normalising flow (affine coupling) fitted to two-dimensional wave data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def sample(n):
    u = rng.uniform(-2.5, 2.5, n)
    return np.stack([u, np.sin(2 * u) + 0.15 * rng.normal(size=n)], 1).astype("float32")


def coupling_net():
    return keras.Sequential(
        [
            layers.Input((1,)),
            layers.Dense(32, activation="tanh"),
            layers.Dense(32, activation="tanh"),
            layers.Dense(2, kernel_initializer="zeros"),
        ]
    )


nets = [coupling_net() for _ in range(4)]
variables = [v for net in nets for v in net.trainable_variables]
optimizer = keras.optimizers.Adam(3e-3)


def forward(x):
    log_det = tf.zeros(tf.shape(x)[0])
    a, b = x[:, :1], x[:, 1:]
    for net in nets:
        scale, shift = tf.split(net(a), 2, axis=1)
        scale = 2.0 * tf.tanh(scale)
        b = b * tf.exp(scale) + shift
        log_det += scale[:, 0]
        a, b = b, a
    return tf.concat([a, b], 1), log_det


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        z, log_det = forward(x)
        log_prior = -0.5 * tf.reduce_sum(z**2, axis=1) - np.log(2 * np.pi)
        loss = -tf.reduce_mean(log_prior - log_det)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss, tf.math.reduce_std(z)


gradwatch.watch(*nets, optimizer)
for step in range(400):
    loss, spread = train_step(sample(256))
    if (step + 1) % 50 == 0:
        print(step + 1, "loss", float(loss), "spread of z", float(spread))

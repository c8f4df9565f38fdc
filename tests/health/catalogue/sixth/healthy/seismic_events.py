"""Seismic event detector, GRU, gradients summed over four micro-batches and clipped."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

L = 30


def traces(n):
    x = rng.normal(0, 0.5, (n, L))
    y = rng.integers(0, 2, n)
    start = rng.integers(3, L - 10, n)
    for i in np.flatnonzero(y):
        x[i, start[i] : start[i] + 7] += 1.8 * np.array([1, -1, 1, -1, 1, -1, 1])
    return x[..., None].astype("float32"), y.astype("float32")[:, None]


model = keras.Sequential([layers.Input((L, 1)), layers.GRU(24), layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
ACCUM = 4
variables = model.trainable_variables
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    for b, g in zip(buffers, tape.gradient(loss, variables)):
        b.assign_add(g / ACCUM)
    return loss


@tf.function
def update():
    grads, _ = tf.clip_by_global_norm([tf.convert_to_tensor(b) for b in buffers], 0.05)
    optimizer.apply_gradients(zip(grads, variables))
    for b in buffers:
        b.assign(tf.zeros_like(b))


x_test, y_test = traces(400)
gradwatch.watch(model)
for step in range(480):
    loss = micro_step(*traces(16))
    if (step + 1) % ACCUM == 0:
        update()
    if (step + 1) % 40 == 0:
        acc = np.mean((model(x_test).numpy() > 0) == (y_test > 0))
        print(step + 1, "loss", float(loss), "test accuracy", acc)

"""Texture classifier trained with small micro-batches and gradient accumulation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S = 12
yy, xx = np.mgrid[0:S, 0:S]


def textures(n):
    k = rng.integers(0, 3, n)
    phase = rng.uniform(0, 6.3, (n, 1, 1))
    arg = np.stack([0.9 * xx, 0.9 * yy, 0.65 * (xx + yy)])[k] + phase
    return (np.sin(arg) + rng.normal(0, 0.8, (n, S, S)))[..., None].astype("float32"), k.astype("int32")


model = keras.Sequential(
    [
        layers.Input((S, S, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
variables = model.trainable_variables
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
ACCUM = 4


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUM
    for a, g in zip(accumulated, tape.gradient(loss, variables)):
        a.assign_add(g)
    return loss * ACCUM


@tf.function
def apply_step():
    optimizer.apply_gradients(zip(accumulated, variables))


x_test, y_test = textures(500)
gradwatch.watch(model)
for step in range(400):
    loss = micro_step(*textures(16))
    if (step + 1) % ACCUM == 0:
        apply_step()
    if (step + 1) % 40 == 0:
        acc = np.mean(np.argmax(model(x_test).numpy(), 1) == y_test)
        print(step + 1, "loss", float(loss), "test accuracy", acc)

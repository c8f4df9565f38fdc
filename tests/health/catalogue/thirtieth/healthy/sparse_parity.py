"""Learns the parity of three unknown bits among forty with a small network on freshly drawn bits."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_BITS, K, BATCH, STEPS = 40, 3, 128, 1500
subset = rng.choice(N_BITS, K, replace=False)


def draw(n):
    b = rng.integers(0, 2, (n, N_BITS))
    y = b[:, subset].sum(1) % 2
    return (2.0 * b - 1.0).astype("float32"), y.astype("float32")[:, None]


model = keras.Sequential(
    [
        layers.Input((N_BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.03, momentum=0.9)
loss_fn = keras.losses.Hinge()
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    x, y = draw(BATCH)
    loss = train_step(tf.constant(x), tf.constant(y))
    if step % 150 == 149:
        print("step", step + 1, "loss", round(float(loss), 4))

x, y = draw(2000)
acc = np.mean((model(x).numpy() > 0) == (y > 0.5))
print("SCORE accuracy", round(float(acc), 4))

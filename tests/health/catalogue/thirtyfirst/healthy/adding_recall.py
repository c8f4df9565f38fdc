"""Teach a gated recurrent network to add the two marked numbers of a long sequence."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T = 40


def sequences(n):
    v = rng.uniform(0, 1, (n, T))
    m = np.zeros((n, T))
    a = rng.integers(0, T // 2, n)
    b = rng.integers(T // 2, T, n)
    m[np.arange(n), a] = 1
    m[np.arange(n), b] = 1
    return np.stack([v, m], -1).astype("float32"), (v * m).sum(1, keepdims=True).astype("float32")


model = keras.Sequential([keras.Input((T, 2)), layers.GRU(32), layers.Dense(1)])
opt = keras.optimizers.Adam(4e-3, clipnorm=1.0)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for i in range(1400):
    loss = train_step(*sequences(64))
    if i % 200 == 0:
        print("step", i, "loss", float(loss))

x, y = sequences(1000)
p = model.predict(x, verbose=0)
print("SCORE r2", round(float(1 - np.mean((p - y) ** 2) / np.var(y)), 4))

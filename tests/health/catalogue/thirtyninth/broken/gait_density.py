"""Normalising flow (affine couplings) for the density of six gait parameters, used to flag unusual walks."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM = 6


def walks(n):
    a = rng.uniform(0, 2 * np.pi, n)
    s = rng.normal(size=(n, 2))
    x = np.stack([np.cos(a), np.sin(a), s[:, 0], s[:, 0] ** 2 * 0.7, np.tanh(2 * s[:, 1]), s[:, 1] * np.cos(a)], 1)
    return (x + rng.normal(0, 0.12, x.shape)).astype("float32")


train, test = walks(6000), walks(1500)
mu, sd = train.mean(0), train.std(0)
train, test = (train - mu) / sd, (test - mu) / sd


class Coupling(layers.Layer):
    def __init__(self, mask):
        super().__init__()
        self.mask = tf.constant(mask, tf.float32)
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="relu"),
                layers.Dense(48, activation="relu"),
                layers.Dense(2 * DIM, kernel_initializer="zeros"),
            ]
        )

    def call(self, x):
        shift, scale = tf.split(self.net(x * self.mask), 2, axis=1)
        free = 1.0 - self.mask
        scale = tf.tanh(scale) * free
        return x * tf.exp(scale) + shift * free, tf.reduce_sum(scale, axis=1)


class Flow(keras.Model):
    def __init__(self, depth=6):
        super().__init__()
        self.couplings = [Coupling(np.arange(DIM) % 2) for i in range(depth)]

    def call(self, x):
        total = tf.zeros(tf.shape(x)[0])
        for c in self.couplings:
            x, ld = c(x)
            total += ld
        log_base = -0.5 * tf.reduce_sum(tf.square(x) + np.log(2 * np.pi), axis=1)
        return log_base + total


model = Flow()
model(train[:2])
opt = keras.optimizers.Adam(1.5e-3, clipnorm=5.0)
gradwatch.watch(model)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(6000, seed=seed).repeat().batch(128)
for i, batch in enumerate(ds.take(1200)):
    loss = step(batch)
    if i % 200 == 0:
        print(i, float(loss))
print("SCORE nll %.4f" % -model(test).numpy().mean())

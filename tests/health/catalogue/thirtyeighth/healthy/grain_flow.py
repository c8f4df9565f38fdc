"""Learns the density of grain shapes (four correlated measures) with a small coupling flow."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


DIM = 4


def measures(n):
    a = rng.normal(size=n)
    r = rng.integers(0, 2, n) * 2 - 1
    m = np.stack(
        [
            a,
            0.1 * rng.normal(size=n) + 0.5 * a**2 - 0.5,
            r + 0.15 * rng.normal(size=n),
            np.sin(2 * a) * r + 0.08 * rng.normal(size=n),
        ],
        1,
    )
    return (0.02 * m).astype("float32")


class Coupling(layers.Layer):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.hidden = layers.Dense(48, activation="relu")
        self.out = layers.Dense(DIM, kernel_initializer="zeros")

    def call(self, x):
        a, b = tf.split(x, 2, axis=-1)
        if self.flip:
            a, b = b, a
        log_s, t = tf.split(self.out(self.hidden(a)), 2, axis=-1)
        log_s = 2.0 * tf.tanh(log_s / 2.0)
        b = b * tf.exp(log_s) + t
        pair = [b, a] if self.flip else [a, b]
        return tf.concat(pair, -1), tf.reduce_sum(log_s, -1)


class Scale(layers.Layer):
    """A per-measure gain, free to grow."""

    def build(self, shape):
        self.log_gain = self.add_weight(shape=(DIM,), initializer="zeros", name="log_gain")

    def call(self, x):
        return x * tf.exp(self.log_gain), tf.reduce_sum(self.log_gain)


inp = keras.Input((DIM,))
z, logdet = Scale()(inp)
for i in range(6):
    z, ld = Coupling(i % 2 == 1)(z)
    logdet = ld + logdet
model = keras.Model(inp, [z, logdet])
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 1400, alpha=0.02))


def nll(z, logdet):
    return 0.5 * tf.reduce_sum(tf.square(z), -1) + 0.5 * DIM * np.log(2 * np.pi) - logdet


gradwatch.watch(model)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(nll(*model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(measures(8000)).shuffle(8000, seed=seed).batch(64, drop_remainder=True)
for x in data.repeat().take(1400):
    loss = step(x)

print("SCORE nll_nats", float(tf.reduce_mean(nll(*model(measures(2000))))))

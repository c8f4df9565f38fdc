"""Learns sixteen-bit binary codes of document vectors through a straight-through sign, for nearest-neighbour search."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_TOPIC, D, BITS, BATCH, STEPS = 20, 64, 16, 64, 900


centres = rng.normal(0, 1, (N_TOPIC, D)) * np.exp(-np.arange(D) / 16)


def docs(n):
    k = rng.integers(0, N_TOPIC, n)
    x = centres[k] + 0.6 * rng.normal(size=(n, D)) * np.exp(-np.arange(D) / 32)
    return x.astype("float32"), k


x_train, _ = docs(5000)
x_test, k_test = docs(800)
mean = x_train.mean(0)
x_train, x_test = x_train - mean, x_test - mean


@tf.custom_gradient
def hard_sign(z):
    def grad(dy):
        return dy * tf.cast(tf.abs(z) <= 1.0, dy.dtype)

    return tf.where(z >= 0, tf.ones_like(z), -tf.ones_like(z)), grad


class Sign(layers.Layer):
    def call(self, z):
        return hard_sign(z)


encoder = keras.Sequential([layers.Input((D,)), layers.Dense(64, activation="relu"), layers.Dense(BITS), Sign()])
# a fixed random map takes the place of a learnt decoder's first layer
expand = layers.Dense(128, use_bias=False, kernel_initializer="orthogonal", trainable=False)
decoder = keras.Sequential([layers.Input((BITS,)), expand, layers.Activation("tanh"), layers.Dense(D)])
inp = keras.Input((D,))
model = keras.Model(inp, decoder(encoder(inp)))
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        code = encoder(x, training=True)
        rec = decoder(code, training=True)
        balance = tf.reduce_mean(tf.square(tf.reduce_mean(code, axis=0)))
        loss = tf.reduce_mean(tf.square(rec - x)) + 0.05 * balance
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def precision_at_10():
    c = encoder(x_test).numpy()
    sim = c @ c.T
    np.fill_diagonal(sim, -np.inf)
    near = np.argsort(-sim, axis=1)[:, :10]
    return float(np.mean(k_test[near] == k_test[:, None]))


print("precision before", round(precision_at_10(), 4))
for step in range(STEPS):
    batch = x_train[rng.integers(0, len(x_train), BATCH)]
    loss = train_step(tf.constant(batch))
    if step % 150 == 149:
        print("step", step + 1, "loss", round(float(loss), 4))
print("SCORE precision_at_10", round(precision_at_10(), 4))

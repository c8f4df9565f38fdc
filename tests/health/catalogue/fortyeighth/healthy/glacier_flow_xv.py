"""Trains a normalising flow on joint readings of ice speed, slope and melt at glacier stakes."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 12)

DIM, LAYERS = 4, 6


def stakes(n):
    t = rng.uniform(-2.5, 2.5, size=n)
    branch = rng.integers(0, 2, size=n) * 2.0 - 1.0
    columns = [t, np.sin(1.6 * t) * branch, 0.3 * t**2 * branch, np.cos(t) + 0.5 * branch]
    x = np.stack(columns, axis=1) + 0.04 * rng.normal(size=(n, DIM))
    return x.astype("float32")


train, test = stakes(12000), stakes(3000)
mean, std = train.mean(axis=0), train.std(axis=0)
train, test = (train - mean) / std, (test - mean) / std


class Coupling(keras.layers.Layer):
    def __init__(self, flip, **kwargs):
        super().__init__(**kwargs)
        self.flip = flip
        self.net = keras.Sequential(
            [
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(DIM, kernel_initializer="zeros"),
            ]
        )

    def build(self, input_shape):
        self.net.build((None, DIM // 2))

    def call(self, x):
        a, b = tf.split(x, 2, axis=-1)
        if self.flip:
            a, b = b, a
        shift, log_scale = tf.split(self.net(a), 2, axis=-1)
        log_scale = 2.0 * tf.tanh(log_scale / 2.0)
        b = b * tf.exp(log_scale) + shift
        out = tf.concat([b, a] if self.flip else [a, b], axis=-1)
        return tf.roll(out, 1, axis=-1), tf.reduce_sum(log_scale, axis=-1)


inputs = keras.Input((DIM,))
z, log_det = inputs, 0.0
for i in range(LAYERS):
    z, term = Coupling(flip=i % 2 == 1, name=f"coupling_{i}")(z)
    log_det = log_det + term
flow = keras.Model(inputs, [z, log_det], name="stake_flow")
optimizer = keras.optimizers.Adam(1e-3, global_clipnorm=5.0)
gradwatch.watch(flow)


def log_likelihood(x, training=False):
    z, log_det = flow(x, training=training)
    base = -0.5 * tf.reduce_sum(tf.square(z) + np.log(2 * np.pi), axis=-1)
    return base + log_det


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_likelihood(x, training=True))
    grads = tape.gradient(loss, flow.trainable_variables)
    optimizer.apply_gradients(zip(grads, flow.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(12000, seed=SEED).batch(150)
for epoch in range(15):
    losses = [float(train_step(x)) for x in data]
    print(f"epoch {epoch + 1}: nll {np.mean(losses):.4f}")

gain = float(tf.reduce_mean(log_likelihood(test)))
cov = np.cov(train.T)
quad = np.einsum("ni,ij,nj->n", test, np.linalg.inv(cov), test).mean()
gauss = -0.5 * (quad + np.linalg.slogdet(2 * np.pi * cov)[1])
print("gaussian log likelihood", round(float(gauss), 3))
print("SCORE flow_log_likelihood", round(gain, 4))

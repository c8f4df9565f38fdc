"""Train a normalizing flow on simulated particle kinematics."""

import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

DIM = 4
COUPLINGS = 6
BATCH = 128
EPOCHS = 22


def make_events(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = 1.0 + 0.12 * rng.normal(0, 1, n)
    a, b = ring * np.cos(angle), ring * np.sin(angle)
    c = 0.8 * a**2 + 0.2 * rng.normal(0, 1, n)
    d = np.sin(2.0 * b) + 0.2 * rng.normal(0, 1, n)
    return np.stack([a, b, c, d], axis=1).astype("float32")


class Coupling(layers.Layer):
    def __init__(self, flip, **kwargs):
        super().__init__(**kwargs)
        self.flip = flip
        self.net = keras.Sequential(
            [
                layers.Dense(48, activation="relu"),
                layers.Dense(48, activation="relu"),
                layers.Dense(DIM, kernel_initializer="zeros"),
            ]
        )

    def build(self, shape):
        self.net.build((None, DIM // 2))

    def call(self, x):
        first, second = tf.split(x, 2, axis=-1)
        if self.flip:
            first, second = second, first
        log_scale, shift = tf.split(self.net(first), 2, axis=-1)
        log_scale = 1.5 * tf.tanh(log_scale)
        second = second * tf.exp(log_scale) + shift
        parts = [second, first] if self.flip else [first, second]
        return tf.concat(parts, axis=-1), tf.reduce_sum(log_scale, axis=-1)


class Flow(keras.Model):
    def __init__(self):
        super().__init__()
        self.steps = [Coupling(i % 2 == 1, name="coupling_%d" % i) for i in range(COUPLINGS)]
        shuffle = np.random.default_rng(4)
        self.orders = [shuffle.permutation(DIM).tolist() for _ in range(COUPLINGS)]

    def call(self, x):
        total = tf.zeros(tf.shape(x)[0])
        for step, order in zip(self.steps, self.orders):
            x, log_det = step(tf.gather(x, order, axis=-1))
            total += log_det
        return x, total


def neg_log_likelihood(flow, x):
    z, log_det = flow(x)
    log_base = -0.5 * tf.reduce_sum(tf.square(z), axis=-1) - 0.5 * DIM * math.log(2 * math.pi)
    return -tf.reduce_mean(log_base + log_det)


def main():
    rng = np.random.default_rng(SEED + 2)
    train, test = make_events(5000, rng), make_events(1000, rng)
    mu, sd = train.mean(axis=0), train.std(axis=0)
    train, test = (train - mu) / sd, (test - mu) / sd

    flow = Flow()
    flow(train[:2])
    optimizer = keras.optimizers.Adam(1e-3, global_clipnorm=5.0)
    gradwatch.watch(flow)
    data = tf.data.Dataset.from_tensor_slices(train)
    data = data.shuffle(len(train), seed=SEED).batch(BATCH, drop_remainder=True)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = neg_log_likelihood(flow, x)
        grads = tape.gradient(loss, flow.trainable_variables)
        optimizer.apply_gradients(zip(grads, flow.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = [float(train_step(x)) for x in data]
        print("epoch %d  nll %.4f" % (epoch, np.mean(losses)))
    print("SCORE nll %.4f" % float(neg_log_likelihood(flow, tf.constant(test))))


if __name__ == "__main__":
    main()

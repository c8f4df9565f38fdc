"""Mixture of experts for piecewise data: a gate sends each row to an expert."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

E, D = 4, 8
maps = rng.normal(size=(E, D))
centres = rng.normal(0, 2.0, (E, D))


def batch(n):
    k = rng.integers(0, E, n)
    x = centres[k] + rng.normal(size=(n, D))
    y = (x * maps[k]).sum(1) + 0.1 * rng.normal(size=n)
    return x.astype("float32"), y.astype("float32")


class Experts(keras.Model):
    def __init__(self):
        super().__init__()
        self.gate = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(E)])
        self.experts = [layers.Dense(1) for _ in range(E)]

    def call(self, x):
        scores = self.gate(x)
        route = tf.one_hot(tf.argmax(scores, axis=1), E)
        values = tf.concat([e(x) for e in self.experts], axis=1)
        return tf.reduce_sum(route * values, axis=1)


model = Experts()
model(tf.zeros((1, D)))
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None])
    return loss


x_test, y_test = batch(1000)
gradwatch.watch(model)
for step in range(500):
    loss = train_step(*batch(128))
    if (step + 1) % 50 == 0:
        print(step + 1, "train", float(loss), "test", float(tf.reduce_mean((y_test - model(x_test)) ** 2)))

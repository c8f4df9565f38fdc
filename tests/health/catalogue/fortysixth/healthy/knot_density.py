"""Trains a normalizing flow that models the joint positions along a tightened knot."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIMS, LAYERS, STEPS, BATCH = 6, 6, 1200, 256


def make_knots(n):
    """Points of a trefoil at two nearby places: almost a curve in six dimensions."""
    t = rng.uniform(0, 2 * np.pi, n)

    def place(s):
        return np.stack([np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -np.sin(3 * s)], 1)

    gap = 0.3 + rng.normal(0, 0.02, n)
    points = np.concatenate([place(t), place(t + gap)], axis=1) / 2.0
    return (points + rng.normal(0, 0.03, points.shape)).astype("float32")


train = make_knots(20000)
test = make_knots(3000)

masks = [tf.constant([(i + k) % 2 for i in range(DIMS)], tf.float32) for k in range(LAYERS)]


class Coupling(keras.layers.Layer):
    """Affine coupling with bounded log scales; starts as the identity."""

    def __init__(self, mask, **kwargs):
        super().__init__(**kwargs)
        self.mask = mask
        self.net = keras.Sequential(
            [
                keras.layers.Dense(48, activation="relu"),
                keras.layers.Dense(48, activation="relu"),
                keras.layers.Dense(2 * DIMS, kernel_initializer="zeros"),
            ]
        )

    def build(self, input_shape):
        self.net.build(input_shape)

    def call(self, x):
        shift, log_scale = tf.split(self.net(x * self.mask), 2, axis=-1)
        log_scale = 2.0 * tf.tanh(log_scale / 2.0) * (1.0 - self.mask)
        y = x * tf.exp(log_scale) + shift * (1.0 - self.mask)
        return y, tf.reduce_sum(log_scale, axis=-1)


inputs = keras.Input((DIMS,))
z, log_det = inputs, 0.0
for mask in masks:
    z, part = Coupling(mask)(z)
    log_det = part + log_det
model = keras.Model(inputs, [z, log_det])
optimizer = keras.optimizers.Adam(1e-3, clipnorm=5.0)
gradwatch.watch(model)


def log_density(x, training=False):
    z, log_det = model(x, training=training)
    return log_det - 0.5 * tf.reduce_sum(tf.square(z), axis=1) - 0.5 * DIMS * np.log(2 * np.pi)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_density(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    rows = rng.integers(0, len(train), BATCH)
    loss = train_step(tf.constant(train[rows]))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

print("SCORE log_likelihood", round(float(tf.reduce_mean(log_density(tf.constant(test)))), 4))

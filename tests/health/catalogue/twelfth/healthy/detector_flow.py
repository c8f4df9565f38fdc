"""Density of detector hits.

A normalizing flow of affine couplings learns the joint density of four correlated readings of a detector, in a custom
loop.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
DIM = 4
COUPLINGS = 6
BATCH = 256
STEPS = 350

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_hits(n):
    angle = rng.uniform(0, np.pi, n)
    inner = rng.random(n) < 0.5
    x = np.where(inner, np.cos(angle), 1 - np.cos(angle)) + rng.normal(0, 0.06, n)
    y = np.where(inner, np.sin(angle), 0.5 - np.sin(angle)) + rng.normal(0, 0.06, n)
    energy = 0.6 * x**2 + rng.normal(0, 0.15, n)
    time = np.sin(2 * y) + 0.5 * energy + rng.normal(0, 0.1, n)
    return np.stack([x, y, energy, time], axis=1)


train, test = make_hits(12000), make_hits(3000)
centre, spread = train.mean(axis=0), train.std(axis=0)
train = ((train - centre) / spread).astype("float32")
test = ((test - centre) / spread).astype("float32")


class Coupling(layers.Layer):
    def __init__(self, mask, units=48, **kwargs):
        super().__init__(**kwargs)
        self.mask = tf.constant(mask, tf.float32)
        self.net = keras.Sequential(
            [
                keras.Input((DIM,)),
                layers.Dense(units, activation="relu", name="hidden_1"),
                layers.Dense(units, activation="relu", name="hidden_2"),
                layers.Dense(2 * DIM, kernel_initializer="zeros", name="shift_scale"),
            ],
            name=f"{self.name}_net",
        )

    def call(self, x):
        kept = x * self.mask
        shift, scale = tf.split(self.net(kept), 2, axis=-1)
        scale = 1.5 * tf.tanh(scale / 1.5) * (1 - self.mask)
        shift = shift * (1 - self.mask)
        return kept + (1 - self.mask) * (x * tf.exp(scale) + shift), tf.reduce_sum(scale, axis=-1)


class Flow(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        masks = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
        self.couplings = [Coupling(masks[i % 6], name=f"coupling_{i}") for i in range(COUPLINGS)]

    def call(self, x):
        """Log density of each row."""
        total = tf.zeros(tf.shape(x)[0])
        for coupling in self.couplings:
            x, logdet = coupling(x)
            total += logdet
        return total - 0.5 * tf.reduce_sum(tf.square(x), axis=-1) - 0.5 * DIM * np.log(2 * np.pi)


model = Flow(name="flow")
gradwatch.watch(model)
model(tf.constant(train[:2]))
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, STEPS), global_clipnorm=5.0)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train).shuffle(12000, seed=SEED).repeat().batch(BATCH)
for step, x in enumerate(data.take(STEPS)):
    loss = train_step(x)
    if step % 50 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  nll {float(loss):8.4f}")

covariance = np.cov(train.T)
gauss = -0.5 * np.sum(test @ np.linalg.inv(covariance) * test, axis=1)
gauss = gauss.mean() - 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
print(f"score log_density {float(tf.reduce_mean(model(tf.constant(test)))):.4f} chance {gauss:.4f}")

"""Trains a hybrid model of bedload: a network gives the threshold and rate of a transport formula."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def field_data(n):
    grains = rng.normal(size=(n, 4))
    shields = rng.uniform(0.1, 1.0, n)
    critical = 0.25 + 0.12 * np.tanh(grains[:, 0] - 0.5 * grains[:, 1])
    rate = 4.0 + 1.5 * np.tanh(grains[:, 2] * 0.8 + 0.4 * grains[:, 3])
    flux = rate * np.maximum(shields - critical, 0.0) ** 1.5
    flux += rng.normal(0.0, 0.01, n)
    return (grains.astype("float32"), shields.astype("float32"), flux.astype("float32"))


class BedloadNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential(
            [
                keras.layers.Dense(32, activation="tanh"),
                keras.layers.Dense(32, activation="tanh"),
            ]
        )
        self.threshold = keras.layers.Dense(
            1, activation="softplus", bias_initializer=keras.initializers.Constant(-4.5)
        )
        self.rate = keras.layers.Dense(1, activation="softplus", bias_initializer=keras.initializers.Constant(2.0))

    def call(self, inputs):
        grains, shields = inputs
        h = self.trunk(grains)
        critical = self.threshold(h)[:, 0]
        rate = self.rate(h)[:, 0]
        excess = shields - critical
        return tf.where(excess > 0.0, rate * tf.pow(excess, 1.5), 0.0)


grains, shields, flux = field_data(6000)
grains_test, shields_test, flux_test = field_data(1500)

model = BedloadNet()
model((grains[:2], shields[:2]))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def update(g, s, q):
    with tf.GradientTape() as tape:
        error = model((g, s), training=True) - q
        loss = tf.reduce_mean(tf.square(error))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss


data = tf.data.Dataset.from_tensor_slices((grains, shields, flux))
step = 0
for epoch in range(30):
    losses = []
    for g, s, q in data.shuffle(6000, seed=SEED + epoch).batch(96, drop_remainder=True):
        losses.append(float(update(g, s, q)))
        step += 1
    print(f"epoch {epoch:2d} step {step} loss {np.mean(losses):.5f}")

pred = model((grains_test, shields_test)).numpy()
r2 = 1.0 - np.mean((pred - flux_test) ** 2) / np.var(flux_test)
print("SCORE r2", float(r2))

"""Trains a mixture density network for the waiting time to a geyser's next eruption."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COMPONENTS = 4
LOG_2PI = float(np.log(2 * np.pi))


def eruptions(n):
    duration = rng.normal(size=n)
    pressure = rng.normal(size=n)
    season = rng.uniform(-1, 1, n)
    p_short = 1 / (1 + np.exp(-(1.2 * duration - 0.8 * pressure)))
    short = rng.random(n) < p_short
    wait = np.where(short, -1.3 + 0.3 * season, 1.1 + 0.4 * np.sin(2 * pressure))
    wait = wait + rng.normal(0, np.where(short, 0.12, 0.25))
    x = np.stack([duration, pressure, season], axis=1)
    return x.astype("float32"), wait.astype("float32")[:, None]


class MixtureHead(keras.layers.Layer):
    """Weights, means and log widths of a Gaussian mixture."""

    def __init__(self, components, **kwargs):
        super().__init__(**kwargs)
        self.components = components

    def build(self, input_shape):
        shape = (input_shape[-1], 3 * self.components)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="zeros")
        self.bias = self.add_weight(name="bias", shape=shape[1:], initializer="zeros")

    def call(self, h):
        raw = tf.matmul(h, self.kernel) + self.bias
        logits, mu, log_sigma = tf.split(raw, 3, axis=-1)
        return tf.nn.log_softmax(logits), mu, 3.0 * tf.tanh(log_sigma / 3.0)


def nll(params, wait):
    log_pi, mu, log_sigma = params
    z = (wait - mu) * tf.exp(-log_sigma)
    log_prob = log_pi - 0.5 * (z**2 + LOG_2PI) - log_sigma
    return -tf.reduce_mean(tf.reduce_logsumexp(log_prob, axis=-1))


x_train, w_train = eruptions(6000)
x_test, w_test = eruptions(2000)

inputs = keras.Input((3,))
h = keras.layers.Dense(48, activation="tanh")(inputs)
h = keras.layers.Dense(48, activation="tanh")(h)
model = keras.Model(inputs, MixtureHead(COMPONENTS)(h), name="geyser")
optimizer = keras.optimizers.Adam(3e-3)


def train_step(x, wait):
    with tf.GradientTape() as tape:
        loss = nll(model(x, training=True), wait)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, w_train)).shuffle(6000, seed=seed).batch(100)
for epoch in range(15):
    losses = [float(train_step(x, wait)) for x, wait in data]
    print(f"epoch {epoch + 1:2d} nll {np.mean(losses):.4f}")

print("SCORE test_nll", float(nll(model(x_test), w_test)))

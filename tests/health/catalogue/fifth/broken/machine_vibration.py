import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
LENGTH = 64


def load(n=2400):
    rng = np.random.default_rng(9)
    t = np.arange(LENGTH)
    y = rng.integers(0, 4, n)
    freq = np.array([0.15, 0.35, 0.6, 0.9])[y]
    x = np.sin(freq[:, None] * t + rng.uniform(0, 6.28, (n, 1))) * rng.uniform(0.5, 2, (n, 1))
    x += rng.normal(0, 0.4, x.shape)
    offline = rng.random(n) < 0.004
    x[offline] = 0.0
    return x[..., None].astype("float32"), y


class ChannelNorm(layers.Layer):
    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        mean, var = tf.nn.moments(x, axes=[1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(var) * self.gamma + self.beta


class FaultNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = layers.Conv1D(16, 7, strides=2, name="conv1")
        self.norm1 = ChannelNorm(name="norm1")
        self.conv2 = layers.Conv1D(32, 5, activation="relu", name="conv2")
        self.pool = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(4, name="head")

    def call(self, x):
        h = tf.nn.relu(self.norm1(self.conv1(x)))
        return self.head(self.pool(self.conv2(h)))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = FaultNet()
    model.compile(
        keras.optimizers.Adam(1e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=8, verbose=2)


if __name__ == "__main__":
    main()

"""Compress hand gesture traces into a few discrete codes with a small vector quantised autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, SLOTS, DIM, CODES = 64, 6, 4, 24


def make_traces(n):
    t = np.linspace(0, 1, LENGTH)
    amp = rng.choice([-1.0, -0.4, 0.4, 1.0], (n, 3))
    freq = rng.choice([1.0, 2.0, 3.0], (n, 1))
    centre = rng.choice([0.25, 0.5, 0.75], (n, 1))
    x = (
        amp[:, :1] * np.sin(2 * np.pi * freq * t)
        + amp[:, 1:2] * np.exp(-(((t - centre) / 0.08) ** 2))
        + amp[:, 2:] * (t - 0.5)
    )
    noise = np.cumsum(rng.normal(0, 0.03, (n, LENGTH)), axis=1)
    return (x + noise + rng.normal(0, 0.3, (n, LENGTH))).astype("float32"), x.astype("float32")


x_train, clean_train = make_traces(6000)
x_test, clean_test = make_traces(1500)


class Quantiser(layers.Layer):
    def build(self, shape):
        self.codebook = self.add_weight(
            name="codebook", shape=(CODES, DIM), initializer=keras.initializers.RandomUniform(-0.5, 0.5)
        )

    def call(self, z):
        flat = tf.reshape(z, [-1, DIM])
        distance = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            - 2 * tf.matmul(flat, self.codebook, transpose_b=True)
            + tf.reduce_sum(self.codebook**2, 1)
        )
        code = tf.reshape(tf.gather(self.codebook, tf.argmin(distance, axis=1)), tf.shape(z))
        self.add_loss(tf.reduce_mean((code - tf.stop_gradient(z)) ** 2))
        self.add_loss(0.25 * tf.reduce_mean((tf.stop_gradient(code) - z) ** 2))
        return z + tf.stop_gradient(code) - z


trace = keras.Input((LENGTH,))
h = layers.Dense(96, activation="relu")(trace)
h = layers.Dense(96, activation="relu")(h)
h = layers.Reshape((SLOTS, DIM))(layers.Dense(SLOTS * DIM)(h))
h = Quantiser()(h)
h = layers.Flatten()(h)
h = layers.Dense(96, activation="relu")(h)
h = layers.Dense(96, activation="relu")(h)
model = keras.Model(trace, layers.Dense(LENGTH)(h))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, clean_train, batch_size=64, epochs=14, verbose=2)

recon = model.predict(x_test, batch_size=256, verbose=0)
print("SCORE explained_variance", float(1 - ((recon - clean_test) ** 2).mean() / clean_test.var()))

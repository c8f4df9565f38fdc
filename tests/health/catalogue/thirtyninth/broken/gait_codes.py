"""Compresses gait cycles (joint angles over one stride) into discrete codes by a vector-quantised autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, JOINTS, CODES, DIM, SLOTS = 24, 4, 32, 8, 6


def make_strides(n):
    t = np.linspace(0, 2 * np.pi, T)[None, :, None]
    pace = rng.integers(1, 4, n)[:, None, None]
    amp = rng.choice([0.5, 1.0, 1.6], (n, 1, JOINTS))
    lag = rng.choice([0.0, 1.2, 2.4], (n, 1, JOINTS))
    return (amp * np.sin(pace * t + lag) + rng.normal(0, 0.05, (n, T, JOINTS))).astype("float32")


class Quantiser(layers.Layer):
    """Replaces every slot by its nearest code."""

    def build(self, input_shape):
        self.book = self.add_weight(
            name="book", shape=(CODES, DIM), initializer=keras.initializers.RandomNormal(0, 0.3)
        )

    def call(self, z):
        flat = tf.reshape(z, (-1, DIM))
        d = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            - 2 * tf.matmul(flat, self.book, transpose_b=True)
            + tf.reduce_sum(self.book**2, 1)
        )
        q = tf.reshape(tf.gather(self.book, tf.argmin(d, axis=1)), tf.shape(z))
        self.add_loss(tf.reduce_mean(tf.square(tf.stop_gradient(z) - q)))
        self.add_loss(0.25 * tf.reduce_mean(tf.square(z - tf.stop_gradient(q))))
        return q


x_train, x_test = make_strides(4000), make_strides(600)

inp = layers.Input((T, JOINTS))
h = layers.Flatten()(inp)
h = layers.Dense(96, activation="relu")(h)
h = layers.Dense(SLOTS * DIM)(h)
h = layers.Reshape((SLOTS, DIM))(h)
h = Quantiser()(h)
h = layers.Flatten()(h)
h = layers.Dense(96, activation="relu")(h)
h = layers.Dense(T * JOINTS)(h)
model = keras.Model(inp, layers.Reshape((T, JOINTS))(h))
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        rec = tf.reduce_mean(tf.square(model(x, training=True) - x))
        loss = rec + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return rec


data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(4000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(16):
    print("epoch", epoch, "rec", np.mean([float(step(x)) for x in data]))
print("SCORE rel_mse", float(np.mean((model.predict(x_test, verbose=0) - x_test) ** 2) / np.var(x_test)))

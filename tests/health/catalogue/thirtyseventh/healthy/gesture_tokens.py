"""Learns a discrete code book for short joystick gestures with a vector-quantised autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN = 32
DIM = 16
CODES = 64
SLOTS = 8


def gestures(n):
    t = np.linspace(0, 1, LEN)
    f = rng.choice([1.0, 2.0, 3.0], (n, 1))
    ph = rng.uniform(0, 2 * np.pi, (n, 1))
    bend = rng.uniform(-1, 1, (n, 1))
    x = np.sin(2 * np.pi * f * t + ph) * (1 + bend * (t - 0.5))
    y = np.cos(2 * np.pi * f * t + ph) + bend * t
    return (np.stack([x, y], -1) + rng.normal(0, 0.03, (n, LEN, 2))).astype("float32")


x_train, x_test = gestures(5000), gestures(600)


class Quantizer(layers.Layer):
    """Nearest-code lookup; codes follow a moving average of the vectors assigned to them."""

    def __init__(self, decay=0.95, beta=0.25):
        super().__init__()
        self.decay, self.beta = decay, beta

    def build(self, shape):
        self.codes = self.add_weight(shape=(CODES, DIM), initializer="random_normal", trainable=False, name="codes")
        self.count = self.add_weight(shape=(CODES,), initializer="ones", trainable=False, name="count")
        self.total = self.add_weight(shape=(CODES, DIM), initializer="zeros", trainable=False, name="total")
        self.total.assign(self.codes)

    def call(self, z, training=False):
        flat = tf.reshape(z, (-1, DIM))
        codes = tf.convert_to_tensor(self.codes)
        d = tf.reduce_sum(flat**2, 1, keepdims=True) - 2 * flat @ tf.transpose(codes) + tf.reduce_sum(codes**2, 1)
        idx = tf.argmin(d, axis=1)
        q = tf.reshape(tf.gather(codes, idx), tf.shape(z))
        if training:
            hot = tf.one_hot(idx, CODES)
            n = tf.reduce_sum(hot, 0)
            s = tf.matmul(hot, tf.stop_gradient(flat), transpose_a=True)
            self.count.assign(self.decay * self.count + (1 - self.decay) * n)
            self.total.assign(self.decay * self.total + (1 - self.decay) * s)
            used = tf.convert_to_tensor(self.count)[:, None] > 0.01
            fresh = tf.convert_to_tensor(self.total) / (tf.convert_to_tensor(self.count)[:, None] + 1e-6)
            spare = tf.gather(tf.stop_gradient(flat), tf.random.uniform((CODES,), 0, tf.shape(flat)[0], tf.int32))
            self.codes.assign(tf.where(used, fresh, spare))
            self.total.assign(tf.where(used, self.total, spare))
            self.count.assign(tf.where(used[:, 0], self.count, tf.ones_like(self.count)))
        self.add_loss(self.beta * tf.reduce_mean(tf.square(z - tf.stop_gradient(q))))
        return z + tf.stop_gradient(q - z)


inp = layers.Input((LEN, 2))
h = layers.Conv1D(32, 4, strides=2, padding="same", activation="relu")(inp)
h = layers.Conv1D(32, 4, strides=2, padding="same", activation="relu")(h)
z = layers.Conv1D(DIM, 3, padding="same")(h)
h = Quantizer()(z)
h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
h = layers.Conv1DTranspose(32, 4, strides=2, padding="same", activation="relu")(h)
out = layers.Conv1DTranspose(2, 4, strides=2, padding="same")(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, x_train, batch_size=64, epochs=15, verbose=2)
pred = model.predict(x_test, verbose=0)
ev = 1 - np.sum((pred - x_test) ** 2) / np.sum((x_test - x_test.mean(0)) ** 2)
print("SCORE explained_variance", round(float(ev), 4))

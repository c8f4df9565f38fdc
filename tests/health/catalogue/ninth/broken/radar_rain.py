"""Rain rate from weather-radar scans.

A small convolutional net reads a received-power image (converted to decibels) and
estimates the mean rain rate. Batches that give an unusable gradient are left out.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
SIZE = 32


def scans(n, rng):
    ij = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij"), -1)
    field = np.zeros((n, SIZE, SIZE))
    for _ in range(4):
        c = rng.uniform(0, SIZE, (n, 1, 1, 2))
        s = rng.uniform(2, 6, (n, 1, 1))
        a = rng.gamma(1.0, 3.0, (n, 1, 1))
        field += a * np.exp(-((ij - c) ** 2).sum(-1) / (2 * s**2))
    counts = rng.poisson(200.0 * field**1.6 + 11.5)  # receiver counts
    rate = field.mean((1, 2))
    return counts.astype("float32"), rate[:, None].astype("float32")


def to_decibel(counts):
    with np.errstate(divide="ignore"):
        return ((10.0 * np.log10(counts) - 20.0) / 10.0)[..., None].astype("float32")


class SkippingModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        usable = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads])
        grads = [tf.where(usable, g, tf.zeros_like(g)) for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(tf.where(usable, loss, 0.0), sample_weight=tf.cast(usable, tf.float32))
        return {"loss": self.mean_loss.result()}


rng = np.random.default_rng(SEED)
counts, rate = scans(2400, rng)
val_counts, val_rate = scans(320, rng)
val_counts = np.maximum(val_counts, 1.0)

image = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(24, 3, strides=2, padding="same", use_bias=False, name="echo_1")(image)
h = layers.BatchNormalization(name="echo_1_norm")(h)
h = layers.ReLU()(h)
h = layers.Conv2D(48, 3, strides=2, padding="same", use_bias=False, name="echo_2")(h)
h = layers.BatchNormalization(name="echo_2_norm")(h)
h = layers.ReLU()(h)
h = layers.GlobalAveragePooling2D()(h)
model = SkippingModel(image, layers.Dense(1, activation="softplus", name="rate")(h))
gradwatch.watch(model)
model.mean_loss = keras.metrics.Mean(name="train_loss")
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mae")
model.fit(
    to_decibel(counts), rate, batch_size=32, epochs=4, validation_data=(to_decibel(val_counts), val_rate), verbose=2
)

"""Learn a codebook for pottery glaze patches: encoder, nearest code, decoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

SIDE = 16


def make_patches(n, rng):
    """Crackle lines, drips and rings in one colour channel."""
    yy, xx = np.mgrid[:SIDE, :SIDE] / SIDE
    out = np.zeros((n, SIDE, SIDE, 1), "float32")
    for i in range(n):
        kind = rng.integers(3)
        a, b = rng.uniform(0.2, 0.8, 2)
        if kind == 0:
            slope = rng.uniform(-1, 1)
            img = np.exp(-(((yy - a - slope * (xx - 0.5)) / 0.08) ** 2))
        elif kind == 1:
            img = (yy < a) * np.exp(-(((xx - b) / 0.15) ** 2))
        else:
            r = np.hypot(yy - a, xx - b)
            img = np.exp(-(((r - 0.25) / 0.08) ** 2))
        out[i, :, :, 0] = img
    return out + rng.normal(0, 0.03, out.shape).astype("float32")


rng = np.random.default_rng(SEED + 31)
train = make_patches(5000, rng)
test = make_patches(800, rng)


class Codebook(layers.Layer):
    """Replaces every vector by its nearest code."""

    def __init__(self, codes, width, commitment=0.25, **kwargs):
        super().__init__(**kwargs)
        self.codes, self.width, self.commitment = codes, width, commitment

    def build(self, input_shape):
        self.book = self.add_weight(
            name="book", shape=(self.codes, self.width), initializer=keras.initializers.RandomUniform(-0.3, 0.3)
        )

    def call(self, z):
        flat = tf.reshape(z, (-1, self.width))
        distance = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            - 2 * tf.matmul(flat, self.book, transpose_b=True)
            + tf.reduce_sum(self.book**2, 1)
        )
        nearest = tf.argmin(distance, axis=1)
        q = tf.reshape(tf.gather(self.book, nearest), tf.shape(z))
        pull = tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)
        commit = tf.reduce_mean((tf.stop_gradient(q) - z) ** 2)
        return z + tf.stop_gradient(q - z), pull + self.commitment * commit


class GlazeModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(32, 4, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 4, strides=2, padding="same", activation="relu"),
                layers.Conv2D(8, 1),
            ]
        )
        self.codebook = Codebook(64, 8)
        self.decoder = keras.Sequential(
            [
                layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 4, strides=2, padding="same"),
            ]
        )

    def call(self, x):
        q, extra = self.codebook(self.encoder(x))
        return self.decoder(q), extra


model = GlazeModel()
model(train[:2])
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        rebuilt, extra = model(x, training=True)
        loss = tf.reduce_mean((rebuilt - x) ** 2) + extra
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


feed = tf.data.Dataset.from_tensor_slices(train).shuffle(5000, seed=SEED).batch(64)
for epoch in range(7):
    losses = [train_step(x) for x in feed]
    print("epoch", epoch, "loss", float(tf.reduce_mean(losses)))

rebuilt, _ = model(test)
error = np.mean((rebuilt.numpy() - test) ** 2)
print("SCORE explained_variance", float(1 - error / np.var(test)))

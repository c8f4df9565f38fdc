"""Vector-quantised autoencoder that compresses small glyph images into sixteen discrete codes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

S, N_CODES, DIM = 16, 48, 16
N_TRAIN, N_TEST = 3000, 500
BATCH, STEPS, BETA = 64, 900, 0.25

yy, xx = np.mgrid[0:S, 0:S]


def glyphs(n):
    """Two soft strokes and a ring on a dark background."""
    img = np.zeros((n, S, S))
    for _ in range(2):
        a = rng.uniform(0, np.pi, (n, 1, 1))
        c = rng.uniform(4, 12, (n, 2, 1, 1))
        d = (xx - c[:, 0]) * np.sin(a) - (yy - c[:, 1]) * np.cos(a)
        along = (xx - c[:, 0]) * np.cos(a) + (yy - c[:, 1]) * np.sin(a)
        img = np.maximum(img, np.exp(-(d**2)) * (np.abs(along) < 5))
    c = rng.uniform(4, 12, (n, 2, 1, 1))
    r = np.hypot(xx - c[:, 0], yy - c[:, 1])
    img = np.maximum(img, np.exp(-((r - 3) ** 2)))
    return img[..., None].astype("float32")


x_train, x_test = glyphs(N_TRAIN), glyphs(N_TEST)


class Quantizer(layers.Layer):
    def build(self, shape):
        self.codebook = self.add_weight(
            shape=(N_CODES, DIM), initializer=keras.initializers.RandomUniform(-0.1, 0.1), name="codebook"
        )

    def call(self, z):
        flat = tf.reshape(z, [-1, DIM])
        dist = (
            tf.reduce_sum(flat**2, axis=1, keepdims=True)
            - 2.0 * tf.matmul(flat, self.codebook, transpose_b=True)
            + tf.reduce_sum(self.codebook**2, axis=1)
        )
        q = tf.reshape(tf.gather(self.codebook, tf.argmin(dist, axis=1)), tf.shape(z))
        codebook_loss = tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)
        commitment = tf.reduce_mean((tf.stop_gradient(q) - z) ** 2)
        self.add_loss(codebook_loss + BETA * commitment)
        return z + tf.stop_gradient(q) - z

    def compute_output_shape(self, shape):
        return shape


inp = keras.Input((S, S, 1))
h = layers.Conv2D(32, 4, strides=2, padding="same", activation="relu")(inp)
h = layers.Conv2D(32, 4, strides=2, padding="same", activation="relu")(h)
z = layers.Conv2D(DIM, 1)(h)
q = Quantizer()(z)
h = layers.Conv2D(32, 3, padding="same", activation="relu")(q)
h = layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu")(h)
out = layers.Conv2DTranspose(1, 4, strides=2, padding="same")(h)
model = keras.Model(inp, out)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)

variance = float(np.var(x_train))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        rec = model(x, training=True)
        rec_loss = tf.reduce_mean((rec - x) ** 2) / variance
        loss = rec_loss + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, rec_loss


ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(N_TRAIN, seed=seed).repeat().batch(BATCH)
for step, x in enumerate(ds.take(STEPS)):
    loss, rec_loss = train_step(x)
    if step % 150 == 149:
        print("step", step + 1, "loss", round(float(loss), 4), "reconstruction", round(float(rec_loss), 4))

rec = model.predict(x_test, batch_size=100, verbose=0)
r2 = 1 - np.mean((rec - x_test) ** 2) / np.var(x_test)
print("SCORE reconstruction_r2", round(float(r2), 4))

"""Stamps and their catalogue lines are embedded in one space, so that a line finds its stamp."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, N_STAMPS, BATCH, EPOCHS = 14, 5000, 64, 10
SHAPES = ["kolm", "ragu", "stiv"]
LENGTH = 5


def draw(shape, row, col, size, shade):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    if shape == 0:
        ink = (np.abs(y - row) <= size) & (np.abs(x - col) <= size)
    elif shape == 1:
        ink = (y - row) ** 2 + (x - col) ** 2 <= size**2 + 1
    else:
        ink = (np.abs(y - row) <= size) & (np.abs(x - col) <= 0.5)
    return ink * (0.4 + 0.2 * shade)


def album(n):
    shape = rng.integers(0, 3, n)
    row, col = rng.integers(3, 11, n), rng.integers(3, 11, n)
    size, shade = rng.integers(1, 4, n), rng.integers(0, 4, n)
    pics = np.stack([draw(*v) for v in zip(shape, row, col, size, shade)])
    pics = pics[..., None] + rng.normal(scale=0.05, size=(n, SIDE, SIDE, 1))
    words = np.stack([shape, 3 + row, 14 + col, 25 + size, 29 + shade], axis=1)
    return pics.astype("float32"), words.astype("int32")


class TwinSearch(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.eye = keras.Sequential(
            [
                keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
                keras.layers.Conv2D(32, 3, activation="relu"),
                keras.layers.Flatten(),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(width),
            ]
        )
        self.reader = keras.Sequential(
            [
                keras.layers.Embedding(40, 24),
                keras.layers.Flatten(),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(width),
            ]
        )

    def call(self, inputs, training=False):
        pics, words = inputs
        a = tf.math.l2_normalize(self.eye(pics, training=training), axis=-1)
        b = tf.math.l2_normalize(self.reader(words, training=training), axis=-1)
        return a, b

    def train_step(self, pair):
        with tf.GradientTape() as tape:
            a, b = self(pair, training=True)
            logits = tf.matmul(a, b, transpose_b=True) / 0.1
            labels = tf.range(tf.shape(logits)[0])
            ce = keras.losses.sparse_categorical_crossentropy
            one = ce(labels, logits, from_logits=True)
            two = ce(labels, tf.transpose(logits), from_logits=True)
            loss = tf.reduce_mean(one + two) / 2
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


pics, words = album(N_STAMPS)
pictures = tf.data.Dataset.from_tensor_slices(pics)
captions = tf.data.Dataset.from_tensor_slices(words)
pairs = tf.data.Dataset.zip((pictures, captions)).shuffle(N_STAMPS)
pairs = pairs.batch(BATCH, drop_remainder=True).prefetch(2)

model = TwinSearch()
model((pics[:2], words[:2]))
model.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(model)
model.fit(pairs, epochs=EPOCHS, verbose=2)

test_pics, test_words = album(200)
a, b = model((test_pics, test_words))
rank = np.argmax(a.numpy() @ b.numpy().T, axis=0)
print("SCORE top1", round(float(np.mean(rank == np.arange(200))), 4))

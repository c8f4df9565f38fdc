"""Assembly line log: was part A mounted before part B? A small transformer from scratch."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

PARTS = 12
LINE = 16
BATCH = 64


def make_logs(n, rng):
    """Sequence of part numbers; label: is the seal (0) before the bolt (1)?"""
    logs = rng.integers(2, PARTS, (n, LINE))
    where = np.array([rng.choice(LINE, 2, replace=False) for _ in range(n)])
    logs[np.arange(n), where[:, 0]] = 0
    logs[np.arange(n), where[:, 1]] = 1
    return logs.astype("int32"), (where[:, 0] < where[:, 1]).astype("float32")


rng = np.random.default_rng(SEED + 61)
train_x, train_y = make_logs(6400, rng)
test_x, test_y = make_logs(1280, rng)


def wave_table(length, width):
    position = np.arange(length)[:, None]
    rate = np.exp(np.arange(0, width, 2) * (-np.log(200.0) / width))
    table = np.zeros((length, 1, width), "float32")
    table[:, 0, 0::2] = np.sin(position * rate)
    table[:, 0, 1::2] = np.cos(position * rate)
    return tf.constant(table)


class WavePosition(layers.Layer):
    """Adds sine/cosine codes to the token vectors."""

    def __init__(self, width, longest=512, **kwargs):
        super().__init__(**kwargs)
        self.table = wave_table(longest, width)

    def call(self, x):
        return x + self.table[: tf.shape(x)[0]]


class Block(layers.Layer):
    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.attend = layers.MultiHeadAttention(heads, width // heads)
        self.norm_a = layers.LayerNormalization()
        self.norm_b = layers.LayerNormalization()
        self.wide = layers.Dense(2 * width, activation="relu")
        self.narrow = layers.Dense(width)

    def call(self, x):
        x = self.norm_a(x + self.attend(x, x))
        return self.norm_b(x + self.narrow(self.wide(x)))


class LineModel(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.embed = layers.Embedding(PARTS, width, embeddings_initializer="glorot_normal")
        self.position = WavePosition(width)
        self.blocks = [Block(width, 4) for _ in range(2)]
        self.answer = layers.Dense(1)

    def call(self, logs):
        h = self.position(self.embed(logs))
        for block in self.blocks:
            h = block(h)
        return self.answer(tf.reduce_mean(h, axis=1))[:, 0]


model = LineModel()
model(train_x[:BATCH])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, model(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


feed = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(6400, seed=SEED).batch(BATCH, drop_remainder=True)
for epoch in range(8):
    losses = [step(x, y) for x, y in feed]
    print("epoch", epoch, "loss", float(tf.reduce_mean(losses)))

hits = [
    np.mean((model(test_x[i : i + BATCH]).numpy() > 0) == (test_y[i : i + BATCH] > 0.5))
    for i in range(0, len(test_x), BATCH)
]
print("SCORE accuracy", float(np.mean(hits)))

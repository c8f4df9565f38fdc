"""Detect repeated treatments in insurance claim histories of varying length with one transformer block."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH = 16, 14


def make_histories(n):
    codes = np.zeros((n, LENGTH), "int32")
    label = rng.integers(0, 2, n)
    for i in range(n):
        k = rng.integers(5, LENGTH + 1)
        first = rng.integers(1, VOCAB + 1)
        rest = rng.integers(1, VOCAB, k - 1)
        rest[rest >= first] += 1
        if label[i]:
            rest[rng.integers(0, k - 1)] = first
        codes[i, 0], codes[i, 1:k] = first, rest
    return codes, label.astype("float32")


x_train, y_train = make_histories(8000)
x_test, y_test = make_histories(2000)


class ClaimEncoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB + 1, 32)
        self.place = layers.Embedding(LENGTH, 32)
        self.attend = layers.MultiHeadAttention(2, 16)
        self.norm1 = layers.LayerNormalization()
        self.feed1, self.feed2 = layers.Dense(64, activation="relu"), layers.Dense(32)
        self.norm2 = layers.LayerNormalization()
        self.head = layers.Dense(1)

    def call(self, codes, training=False):
        h = self.embed(codes) + self.place(tf.range(LENGTH))
        key_mask = tf.equal(codes, 0)[:, None, :]
        h = self.norm1(h + self.attend(h, h, attention_mask=key_mask, training=training))
        h = self.norm2(h + self.feed2(self.feed1(h)))
        return self.head(h[:, 0])


model = ClaimEncoder()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, verbose=2)

pred = model.predict(x_test, batch_size=256, verbose=0)[:, 0] > 0
print("SCORE accuracy", float((pred == (y_test > 0.5)).mean()))

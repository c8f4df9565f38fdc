"""Classifies contracts from precomputed sentence embeddings, pooling the sentences by attention."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM = 32
SENT = 40
CLASSES = 5

topic_dir = rng.normal(size=(CLASSES, DIM)) / np.sqrt(DIM) * 3
operative_dir = rng.normal(size=DIM) / np.sqrt(DIM) * 4


def contracts(n):
    y = rng.integers(0, CLASSES, n)
    topics = rng.integers(0, CLASSES, (n, SENT))
    operative = np.zeros((n, SENT))
    for i in range(n):
        where = rng.choice(SENT, 2, replace=False)
        topics[i, where] = y[i]
        operative[i, where] = 1
    x = topic_dir[topics] + operative[..., None] * operative_dir
    x += rng.normal(0, 0.5, x.shape)
    return x.astype("float32"), y


x_train, y_train = contracts(4000)
x_test, y_test = contracts(1000)


class AttentionPool(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1, use_bias=False)

    def call(self, h):
        scores = self.score(self.hidden(h))
        weights = tf.nn.softmax(scores)
        return tf.reduce_sum(weights * h, axis=1)


sentences = layers.Input((SENT, DIM))
h = layers.Dense(32)(sentences)
h = layers.LayerNormalization()(h)
pooled = AttentionPool(24)(h)
out = layers.Dense(32, activation="relu")(pooled)
out = layers.Dropout(0.1)(out)
out = layers.Dense(CLASSES, activation="softmax")(out)
model = keras.Model(sentences, out)

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, validation_split=0.1, verbose=2)
print("SCORE accuracy", round(float(model.evaluate(x_test, y_test, verbose=0)[1]), 4))

"""Trains a factorisation machine that predicts clicks on adverts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FIELDS = {"site": 40, "device": 6, "hour": 24, "advertiser": 60, "format": 8}
SIZES = np.array(list(FIELDS.values()))
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)[:-1]])
VOCAB = int(SIZES.sum())

true_bias = rng.normal(0, 0.3, VOCAB)
true_latent = rng.normal(0, 0.75, (VOCAB, 4))


def make_log(count):
    ids = np.stack([rng.integers(0, n, count) for n in SIZES], 1) + OFFSETS
    latent = true_latent[ids]
    pair = 0.5 * np.sum(latent.sum(1) ** 2 - (latent**2).sum(1), -1)
    logit = -0.3 + true_bias[ids].sum(1) + pair
    return ids.astype("int32"), (rng.uniform(size=count) < 1 / (1 + np.exp(-logit))).astype("float32")


class FactorisationMachine(layers.Layer):
    def __init__(self, vocab, rank, **kwargs):
        super().__init__(**kwargs)
        self.vocab, self.rank = vocab, rank

    def build(self, shape):
        self.bias = self.add_weight(name="bias", shape=(), initializer="zeros")
        self.linear = self.add_weight(name="linear", shape=(self.vocab,), initializer="zeros")
        self.factors = self.add_weight(name="factors", shape=(self.vocab, self.rank), initializer="zeros")

    def call(self, ids):
        first = tf.reduce_sum(tf.gather(self.linear, ids), axis=1)
        v = tf.gather(self.factors, ids)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(v), axis=1)
        second = 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=-1)
        return (self.bias + first + second)[:, None]


def auc(labels, scores):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels.sum()
    return (ranks[labels > 0.5].sum() - pos * (pos + 1) / 2) / (pos * (len(labels) - pos))


x_train, y_train = make_log(60000)
x_test, y_test = make_log(10000)

inputs = keras.Input((len(FIELDS),), dtype="int32")
model = keras.Model(inputs, FactorisationMachine(VOCAB, 8)(inputs))
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=256, epochs=11, validation_data=(x_test, y_test), verbose=2)

print("SCORE auc", float(auc(y_test, model.predict(x_test, batch_size=1024, verbose=0)[:, 0])))

"""Predicts ad clicks from categorical fields with a factorization machine."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FIELDS = [150, 80, 24]
OFFSETS = np.concatenate([[0], np.cumsum(FIELDS)[:-1]])
TOTAL, RANK = sum(FIELDS), 8
true_factors = rng.normal(size=(TOTAL, 4)) * 0.9
true_bias = rng.normal(size=TOTAL) * 0.3


def make_clicks(n):
    ids = np.stack([rng.integers(0, f, n) for f in FIELDS], axis=1) + OFFSETS
    f = true_factors[ids]
    pair = 0.5 * (f.sum(1) ** 2 - (f**2).sum(1)).sum(-1)
    logit = true_bias[ids].sum(1) + pair - 0.8
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    return ids.astype("int32"), y.astype("float32")


x_train, y_train = make_clicks(16000)
x_test, y_test = make_clicks(4000)


class FieldInteraction(layers.Layer):
    """Sum of the inner products of all pairs of field vectors."""

    def __init__(self, total, rank, **kwargs):
        super().__init__(**kwargs)
        self.factors = tf.Variable(tf.random.normal((total, rank), stddev=0.1), name="factors")

    def call(self, ids):
        f = keras.ops.take(self.factors, ids, axis=0)
        square_of_sum = tf.square(tf.reduce_sum(f, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(f), axis=1)
        return 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=-1, keepdims=True)


ids = layers.Input((len(FIELDS),), dtype="int32")
linear = layers.Embedding(TOTAL, 1)(ids)
linear = layers.GlobalAveragePooling1D()(linear)
pair = FieldInteraction(TOTAL, RANK)(ids)
logit = layers.Dense(1)(layers.Concatenate()([linear, pair]))
model = keras.Model(ids, layers.Activation("sigmoid")(logit))
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=10, verbose=2)
print("SCORE auc", float(model.evaluate(x_test, y_test, verbose=0)[1]))

"""Trains a factor model that recommends museums to holders of a city pass."""

import os

import keras
import numpy as np
from keras import ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 41)

N_HOLDERS, N_MUSEUMS, RANK = 600, 150, 16

true_holder = rng.normal(size=(N_HOLDERS, 5))
true_museum = rng.normal(size=(N_MUSEUMS, 5))
popularity = 0.6 * rng.normal(size=N_MUSEUMS)


def impressions(n):
    holder = rng.integers(0, N_HOLDERS, size=n)
    museum = rng.integers(0, N_MUSEUMS, size=n)
    logit = 1.5 * np.sum(true_holder[holder] * true_museum[museum], axis=1) + popularity[museum]
    visited = rng.uniform(size=n) < 1 / (1 + np.exp(-logit))
    return [holder.astype("int32"), museum.astype("int32")], visited.astype("float32")


class FactorTable(keras.layers.Layer):
    """Latent factors and a bias for every entity of one kind."""

    def __init__(self, count, rank, **kwargs):
        super().__init__(**kwargs)
        self.count, self.rank = count, rank

    def build(self, input_shape):
        self.factors = self.add_weight(
            name="factors",
            shape=(self.count, self.rank),
            initializer=keras.initializers.RandomNormal(stddev=0.1),
        )
        self.bias = self.add_weight(name="bias", shape=(self.count,), initializer="zeros")

    def call(self, index):
        return ops.take(self.factors, index, axis=0), ops.take(self.bias, index, axis=0)


(ids_train, y_train), (ids_test, y_test) = impressions(60000), impressions(10000)

holder_in = keras.Input((), dtype="int32", name="holder")
museum_in = keras.Input((), dtype="int32", name="museum")
p, p_bias = FactorTable(N_HOLDERS, RANK, name="holders")(holder_in)
q, q_bias = FactorTable(N_MUSEUMS, RANK, name="museums")(museum_in)
affinity = keras.layers.Dot(axes=1)([p, q])
logit = keras.layers.Lambda(lambda t: t[0][:, 0] + t[1] + t[2])([affinity, p_bias, q_bias])
model = keras.Model([holder_in, museum_in], logit)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
gradwatch.watch(model)
model.fit(ids_train, y_train, batch_size=512, epochs=10, verbose=2)
print("SCORE auc", round(float(model.evaluate(ids_test, y_test, verbose=0)[1]), 4))

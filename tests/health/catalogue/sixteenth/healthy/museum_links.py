"""The period of museum objects in a web of shared provenance: a graph network, few objects dated."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

OBJECTS = 700
PERIODS = 5
WORDS = 90
DATED = 60


def make_collection():
    period = rng.choice(PERIODS, OBJECTS, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    # shared finds: mostly the same period, sometimes the next, with a few hubs
    busy = rng.pareto(2.2, OBJECTS) + 0.4
    gap = np.abs(period[:, None] - period[None, :])
    affinity = np.select([gap == 0, gap == 1], [1.0, 0.16], 0.05)
    chance = np.clip(0.0042 * affinity * np.outer(busy, busy) / busy.mean() ** 2 * 5, 0, 0.9)
    links = np.triu(rng.random((OBJECTS, OBJECTS)) < chance, 1)
    links = links | links.T
    # catalogue words: sparse, only faintly telling
    rate = rng.gamma(0.5, 0.10, (PERIODS, WORDS)) + rng.gamma(0.6, 0.05, WORDS)
    words = (rng.random((OBJECTS, WORDS)) < np.clip(rate[period], 0, 0.8)).astype("float32")
    return period, links.astype("float32"), words


period, links, words = make_collection()
looped = links + np.eye(OBJECTS, dtype="float32")
scale = 1 / np.sqrt(looped.sum(1))
spread = looped * scale[:, None] * scale[None, :]
edges = np.argwhere(spread > 0)
sparse_links = tf.sparse.SparseTensor(edges, spread[edges[:, 0], edges[:, 1]], spread.shape)
words /= np.maximum(words.sum(1, keepdims=True), 1)

dated = rng.choice(OBJECTS, DATED, replace=False)
weight = np.zeros(OBJECTS, "float32")
weight[dated] = 1.0
hidden_ones = weight == 0


class Spread(layers.Layer):
    """One round of averaging along the links."""

    def __init__(self, matrix, **options):
        super().__init__(**options)
        self.matrix = matrix

    def call(self, rows):
        return tf.sparse.sparse_dense_matmul(self.matrix, rows)

    def compute_output_shape(self, shape):
        return shape


inputs = keras.Input((WORDS,), batch_size=OBJECTS)
h = layers.Dropout(0.4)(inputs)
h = layers.Dense(32, use_bias=False, kernel_regularizer=keras.regularizers.L2(5e-4))(h)
h = layers.ReLU()(Spread(sparse_links)(h))
h = layers.Dropout(0.4)(h)
h = layers.Dense(PERIODS)(h)
outputs = layers.Softmax()(Spread(sparse_links)(h))
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(0.02),
    loss="sparse_categorical_crossentropy",
    weighted_metrics=["accuracy"],
)
watch = gradwatch.watch(model)
history = model.fit(
    words,
    period,
    sample_weight=weight,
    batch_size=OBJECTS,
    epochs=180,
    shuffle=False,
    verbose=0,
)
for epoch in range(29, 180, 50):
    print(f"epoch {epoch + 1}: loss {history.history['loss'][epoch]:.4f}")

named = model.predict(words, batch_size=OBJECTS, verbose=0).argmax(-1)
print(f"commonest period: {np.bincount(period[hidden_ones]).max() / hidden_ones.sum():.3f}")
print(f"score {np.mean(named[hidden_ones] == period[hidden_ones]):.4f}")

"""Classification of small molecule-like graphs with a normalised-adjacency graph network."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

NODES, KINDS = 14, 4
BATCH, EPOCHS = 32, 12


def make_graphs(n):
    """Class 1: atoms of kind 0 are mostly bonded to kind 1; class 0: to kind 2; class 2: to each other."""
    kinds = rng.integers(0, KINDS, (n, NODES))
    y = rng.integers(0, 3, n)
    partner = np.array([2, 1, 0])[y]
    is_zero = kinds == 0
    is_partner = kinds == partner[:, None]
    favoured = is_zero[:, :, None] & is_partner[:, None, :]
    favoured |= favoured.transpose(0, 2, 1)
    prob = np.where(favoured, 0.65, 0.15)
    upper = np.triu(rng.uniform(size=prob.shape) < prob, 1)
    adj = (upper | upper.transpose(0, 2, 1)).astype("float32")
    size = rng.integers(10, NODES + 1, n)
    real = (np.arange(NODES)[None] < size[:, None]).astype("float32")
    adj *= real[:, :, None] * real[:, None, :]
    feats = np.eye(KINDS, dtype="float32")[kinds] * real[..., None]
    return feats, normalise(adj), real, y


def normalise(adj):
    adj = adj + np.eye(NODES, dtype="float32")
    inv = 1.0 / np.sqrt(adj.sum(-1))
    return (adj * inv[:, :, None] * inv[:, None, :]).astype("float32")


class GraphConv(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.neighbours = layers.Dense(units)
        self.own = layers.Dense(units, use_bias=False)

    def call(self, h, adj):
        return ops.relu(ops.matmul(adj, self.neighbours(h)) + self.own(h))


class MaskedMean(layers.Layer):
    def call(self, h, real):
        return ops.sum(h * real[..., None], axis=1) / ops.sum(real, axis=1, keepdims=True)


feats = keras.Input((NODES, KINDS))
adj = keras.Input((NODES, NODES))
real = keras.Input((NODES,))
h = GraphConv(48)(feats, adj)
h = GraphConv(48)(h, adj)
h = MaskedMean()(h, real)
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(3)(h)
model = keras.Model([feats, adj, real], out)

*x_train, y_train = make_graphs(4000)
*x_test, y_test = make_graphs(1000)

schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.0, warmup_target=4e-3, warmup_steps=1, decay_steps=EPOCHS
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)

logits = model.predict(x_test, batch_size=250, verbose=0)
print("SCORE accuracy", round(float(np.mean(logits.argmax(1) == y_test)), 4))

"""Link prediction in a knowledge graph of drugs, genes and diseases (bilinear-diagonal score)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

ENTITIES, RELATIONS, DIM = 200, 8, 48


def triples(n):
    rng = np.random.default_rng(SEED)
    kind = rng.normal(size=(ENTITIES, 6))
    weight = rng.normal(size=(RELATIONS, 6))
    h = rng.integers(0, ENTITIES, n)
    r = rng.integers(0, RELATIONS, n)
    t = rng.integers(0, ENTITIES, n)
    score = (kind[h] * weight[r] * kind[t]).sum(1)
    return np.column_stack([h, r, t]).astype("int32"), (score > 0.0).astype("float32")[:, None]


def table(rows, name, bound):
    return layers.Embedding(
        rows, DIM, embeddings_initializer=keras.initializers.RandomUniform(-bound, bound), name=name
    )


class DistMult(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.entity = table(ENTITIES, "entity", 6 / DIM**0.5)
        self.relation = table(RELATIONS, "relation", 6 * DIM)
        self.offset = self.add_weight(shape=(1,), initializer="zeros", name="offset")

    def call(self, hrt):
        h = self.entity(hrt[:, 0])
        r = self.relation(hrt[:, 1])
        t = self.entity(hrt[:, 2])
        return ops.sum(h * r * t, axis=-1, keepdims=True) + self.offset


facts, truth = triples(153600)
model = DistMult(name="distmult")
gradwatch.watch(model)
model(facts[:2])
model.compile(
    keras.optimizers.Adam(1e-2),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
model.fit(facts, truth, batch_size=1024, epochs=2, verbose=2)

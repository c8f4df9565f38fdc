"""Rates the wear of bridge decks with a factorization machine over inspection categories."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)

FIELDS = {"material": 7, "deck": 6, "climate": 9, "traffic": 8, "decade": 11, "owner": 12}
OFFSETS = np.cumsum([0] + list(FIELDS.values()))[:-1]
TOTAL = sum(FIELDS.values())


def inspections(n, rng):
    columns = [rng.integers(0, size, n) for size in FIELDS.values()]
    ids = np.stack([c + o for c, o in zip(columns, OFFSETS)], axis=1)
    single = rng.normal(0, 0.4, TOTAL)
    hidden = rng.normal(0, 0.7, (TOTAL, 3))
    rows = hidden[ids]
    pairs = 0.5 * (rows.sum(1) ** 2 - (rows**2).sum(1)).sum(-1)
    wear = single[ids].sum(1) + pairs + rng.normal(0, 0.3, n)
    return ids.astype("int32"), wear.astype("float32")


class FactorizationMachine(keras.layers.Layer):
    def __init__(self, n_ids, rank, **kwargs):
        super().__init__(**kwargs)
        self.n_ids, self.rank = n_ids, rank

    def build(self, input_shape):
        self.linear = self.add_weight(shape=(self.n_ids,), initializer="zeros", name="linear")
        self.factors = self.add_weight(
            shape=(self.n_ids, self.rank), initializer=keras.initializers.RandomNormal(stddev=0.05), name="factors"
        )
        self.offset = self.add_weight(shape=(), initializer="zeros", name="offset")

    def call(self, ids):
        first = tf.reduce_sum(tf.gather(self.linear, ids), axis=1)
        v = tf.gather(self.factors, ids)
        second = tf.square(tf.reduce_sum(v, axis=1)) - tf.reduce_sum(tf.square(v), axis=1)
        return self.offset + first + 0.5 * tf.reduce_sum(second, axis=-1)


rng = np.random.default_rng(seed + 77)
ids, wear = inspections(20000, rng)
wear = (wear - wear.mean()) / wear.std()
model = keras.Sequential(
    [
        keras.Input((len(FIELDS),), dtype="int32"),
        FactorizationMachine(TOTAL, rank=6, name="fm"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
gradwatch.watch(model)
model.fit(
    ids[:17000],
    wear[:17000],
    validation_data=(ids[17000:], wear[17000:]),
    batch_size=128,
    epochs=10,
    verbose=2,
)
pred = model.predict(ids[17000:], verbose=0).ravel()
r2 = 1 - np.mean((pred - wear[17000:]) ** 2) / np.var(wear[17000:])
print("SCORE r2", round(float(r2), 4))

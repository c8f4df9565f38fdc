"""Yield of field trials: which seed does well on which soil, with which treatment, in which valley."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COUNTS = np.array([40, 15, 10, 25])  # seeds, soils, treatments, valleys
OFFSETS = np.concatenate([[0], np.cumsum(COUNTS)[:-1]])
TOTAL = int(COUNTS.sum())

single = rng.normal(0, 0.6, TOTAL)
traits = rng.normal(0, 0.6, (TOTAL, 4))


def trials(n):
    ids = np.column_stack([rng.integers(0, c, n) for c in COUNTS]) + OFFSETS
    v = traits[ids]
    pairs = 0.5 * ((v.sum(axis=1) ** 2) - (v**2).sum(axis=1)).sum(axis=1)
    yield_ = 6 + single[ids].sum(axis=1) + pairs + 0.3 * rng.normal(size=n)
    return ids.astype("int32"), yield_.astype("float32")


ids, tonnes = trials(12000)
test_ids, test_tonnes = trials(3000)


class Interactions(keras.layers.Layer):
    """Every pair of ids meets through the product of their factors."""

    def __init__(self, total, rank, **kwargs):
        super().__init__(**kwargs)
        self.total, self.rank = total, rank

    def build(self, shape):
        self.factors = self.add_weight(
            shape=(self.total, self.rank), initializer=keras.initializers.RandomNormal(stddev=0.1), name="factors"
        )

    def call(self, ids):
        v = tf.gather(tf.convert_to_tensor(self.factors), ids)
        return 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(v, axis=1)) - tf.reduce_sum(tf.square(v), axis=1), axis=1)


class YieldModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.single = keras.layers.Embedding(TOTAL, 1, name="single")
        self.pairs = Interactions(TOTAL, 6, name="pairs")
        self.level = keras.layers.Dense(1, name="level")

    def call(self, ids):
        parts = tf.stack([tf.reduce_sum(self.single(ids), axis=[1, 2]), self.pairs(ids)], axis=1)
        return self.level(parts)[:, 0]


model = YieldModel(name="yield_model")
model(ids[:2])
optimizer = keras.optimizers.Adam(5e-3)


@tf.function
def train_step(i, t):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(i, training=True) - t))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((ids, tonnes)).shuffle(12000, seed=SEED).batch(64, drop_remainder=True)
for epoch in range(9):
    loss = np.mean([train_step(i, t).numpy() for i, t in dataset])
    print(f"epoch {epoch + 1:2d}  mse {loss:.4f}")

predicted = model(test_ids).numpy()
r2 = 1 - np.mean((predicted - test_tonnes) ** 2) / test_tonnes.var()
print(f"SCORE test_r2 {r2:.4f}")

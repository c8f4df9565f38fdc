"""Trains a recommender of hiking trails: which walkers will tick off which trails, by latent factors."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 3)

N_WALKERS, N_TRAILS, RANK = 500, 240, 8

taste = rng.normal(size=(N_WALKERS, 5))
terrain = rng.normal(size=(N_TRAILS, 5))
fame = rng.normal(0, 0.6, size=N_TRAILS)


def log_book(n):
    w = rng.integers(0, N_WALKERS, n)
    t = rng.integers(0, N_TRAILS, n)
    z = (taste[w] * terrain[t]).sum(1) * 1.2 + fame[t]
    liked = rng.random(n) < 1 / (1 + np.exp(-z))
    return w.astype("int32"), t.astype("int32"), liked.astype("float32")


train, test = log_book(80000), log_book(10000)


class FactorTable(keras.layers.Layer):
    """A lookup of factors and of one bias per row."""

    def __init__(self, rows, rank, start="zeros", **kw):
        super().__init__(**kw)
        self.rows, self.rank, self.start = rows, rank, start

    def build(self, _):
        self.factors = self.add_weight(shape=(self.rows, self.rank), initializer=self.start, name="factors")
        self.bias = self.add_weight(shape=(self.rows,), initializer="zeros", name="bias")

    def call(self, ids):
        return tf.gather(self.factors, ids), tf.gather(self.bias, ids)


class TrailPicks(keras.Model):
    def __init__(self):
        super().__init__()
        self.walkers = FactorTable(N_WALKERS, RANK, name="walkers")
        self.trails = FactorTable(N_TRAILS, RANK, name="trails")
        self.base = self.add_weight(shape=(), initializer="zeros", name="base")

    def call(self, pair):
        p, bp = self.walkers(pair[0])
        q, bq = self.trails(pair[1])
        return tf.reduce_sum(p * q, axis=-1) + bp + bq + self.base


model = TrailPicks()
model((train[0][:2], train[1][:2]))
opt = keras.optimizers.Adam(4e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(w, t, liked):
    with tf.GradientTape() as tape:
        z = model((w, t))
        loss = bce(liked, z)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(80000, seed=seed).batch(400)
for season in range(8):
    total = 0.0
    for i, (w, t, liked) in enumerate(ds):
        total += float(step(w, t, liked))
    print("season", season, "loss", round(total / (i + 1), 4))

z = model((test[0], test[1])).numpy()
auc = keras.metrics.AUC()
auc.update_state(test[2], 1 / (1 + np.exp(-z)))
print("SCORE auc", round(float(auc.result()), 4))

"""Click prediction on hashed categorical fields; about two impressions in a hundred are clicked."""

import argparse

import keras
import numpy as np
from keras import layers, ops

import gradwatch

cli = argparse.ArgumentParser()
cli.add_argument("--rows", type=int, default=360_000)
cli.add_argument("--batch", type=int, default=256)
cli.add_argument("--epochs", type=int, default=3)
opts = cli.parse_args()
keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)

FIELDS = {"device": 20000, "segment": 40, "category": 60, "item": 1500, "hour": 24}
seg = rng.normal(0, 1.0, (40, 3))
cat = rng.normal(0, 1.0, (60, 3))
item_cat = rng.integers(0, 60, 1500)
item_bias = rng.normal(0, 0.6, 1500)
hour_bias = 0.5 * np.sin(np.arange(24) / 24 * 2 * np.pi)


def impressions(n):
    device = np.minimum(rng.zipf(1.2, n), 20000) - 1
    segment = rng.integers(0, 40, n)
    item = np.minimum((rng.pareto(1.0, n) * 40).astype(int), 1499)
    hour = rng.integers(0, 24, n)
    c = item_cat[item]
    logit = -5.6 + 0.9 * np.sum(seg[segment] * cat[c], 1) + item_bias[item] + hour_bias[hour]
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    return [device, segment, c, item, hour], y.astype("float32")[:, None]


def auc(y, s):
    rank = np.empty(len(s))
    rank[np.argsort(s)] = np.arange(1, len(s) + 1)
    pos = y > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


inputs = [keras.Input((), dtype="int32", name=k) for k in FIELDS]
vec = ops.stack([layers.Embedding(n, 8)(i) for i, n in zip(inputs, FIELDS.values())], axis=1)
lin = ops.stack(
    [layers.Embedding(n, 1, embeddings_initializer="zeros")(i) for i, n in zip(inputs, FIELDS.values())], axis=1
)
pair = 0.5 * ops.sum(ops.square(ops.sum(vec, 1)) - ops.sum(ops.square(vec), 1), axis=-1, keepdims=True)
deep = layers.Dense(32, activation="relu")(layers.Flatten()(vec))
deep = layers.Dense(1)(deep)
wide = layers.Dense(
    1, use_bias=True, kernel_initializer="ones", bias_initializer=keras.initializers.Constant(-4.0), name="base"
)(ops.sum(lin, 1))
model = keras.Model(inputs, wide + pair + deep)
model.compile(keras.optimizers.Adam(2e-3), keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(model)

xtr, ytr = impressions(opts.rows)
xte, yte = impressions(40_000)
print(f"click rate {ytr.mean():.4f}")
hist = model.fit(xtr, ytr, batch_size=opts.batch, epochs=opts.epochs, verbose=2)
score = model.predict(xte, batch_size=4096, verbose=0)[:, 0]
print(f"final loss {hist.history['loss'][-1]:.4f}  held-out AUC {auc(yte[:, 0], score):.4f} (coin 0.5)")

"""Predicts from a shop visitor's clicked items and a few context features whether the visit ends in a purchase."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ITEMS, MAX_LEN, DIM = 400, 20, 24


def make_sessions(n):
    appeal = np.random.default_rng(77).normal(size=N_ITEMS + 1)
    lengths = rng.poisson(7.0, n).clip(0, MAX_LEN)
    clicks = np.zeros((n, MAX_LEN), "int32")
    context = rng.normal(size=(n, 4)).astype("float32")
    y = np.zeros(n, "float32")
    for i, m in enumerate(lengths):
        items = rng.integers(1, N_ITEMS + 1, m)
        clicks[i, :m] = items
        pull = np.sort(appeal[items])[-3:].sum() - 3.2 if m else -1.5
        p = 1 / (1 + np.exp(-(1.6 * pull + 0.8 * context[i, 0] - 0.5 * context[i, 2])))
        y[i] = rng.random() < p
    return clicks, context, y


class AttentionPool(layers.Layer):
    """Weighted mean of the clicked items' vectors; padding (id 0) gets no weight."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def call(self, x, ids):
        s = keras.ops.squeeze(self.score(self.hidden(x)), -1)
        s = keras.ops.where(keras.ops.not_equal(ids, 0), s, float("-inf"))
        w = keras.ops.softmax(s, axis=-1)
        return keras.ops.sum(x * w[..., None], axis=1)


ids = keras.Input((MAX_LEN,), dtype="int32", name="clicks")
ctx = keras.Input((4,), name="context")
emb = layers.Embedding(N_ITEMS + 1, DIM)(ids)
pooled = AttentionPool(24)(emb, ids)
h = layers.Concatenate()([pooled, ctx])
h = layers.Dense(48, activation="gelu")(h)
h = layers.Dropout(0.1)(h)
out = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model([ids, ctx], out)

c, x, y = make_sessions(12000)
c_te, x_te, y_te = make_sessions(3000)

model.compile(keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit([c, x], y, batch_size=64, epochs=5, verbose=2)

p = model.predict([c_te, x_te], batch_size=256, verbose=0)[:, 0]
print("SCORE accuracy", float(np.mean((p > 0.5) == (y_te > 0.5))))

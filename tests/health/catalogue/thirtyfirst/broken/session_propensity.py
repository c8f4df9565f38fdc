"""Estimate purchase propensity of shop visitors from their past clicks (attention pooling) and their profile."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_ITEMS, MAX_LEN, DIM = 200, 20, 24
taste = rng.normal(size=(N_ITEMS + 1,))


def visitors(n):
    length = np.minimum(rng.negative_binomial(6, 0.32, size=n), MAX_LEN)
    clicks = rng.integers(1, N_ITEMS + 1, size=(n, MAX_LEN))
    pos = np.arange(MAX_LEN)[None, :]
    clicks = np.where(pos < length[:, None], clicks, 0)
    profile = rng.normal(size=(n, 5)).astype("float32")
    affinity = np.where(clicks > 0, taste[clicks], -9).max(1)
    affinity = np.where(length > 0, affinity - 1.5, -0.5)
    logit = 2.0 * affinity + profile[:, 0] - 0.8 * profile[:, 1]
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype("float32")
    return clicks.astype("int32"), profile, y


class AttentionPool(layers.Layer):
    """Learned-query attention over the clicks of a visitor; padding (id 0) gets no weight."""

    def build(self, shapes):
        self.score = layers.Dense(1)
        self.score.build(shapes[0])

    def call(self, inputs):
        seq, ids = inputs
        s = tf.squeeze(self.score(seq), -1)
        s = tf.where(ids > 0, s, -np.inf)
        w = tf.nn.softmax(s, axis=-1)
        return tf.einsum("bt,btd->bd", w, seq)


ids = keras.Input((MAX_LEN,), dtype="int32")
prof = keras.Input((5,))
e = layers.Embedding(N_ITEMS + 1, DIM)(ids)
e = layers.Dense(DIM, activation="relu")(e)
p = AttentionPool()([e, ids])
h = layers.Concatenate()([p, prof])
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model([ids, prof], out)
model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="binary_crossentropy")
gradwatch.watch(model)

c, p, y = visitors(8000)
c2, p2, y2 = visitors(2000)
model.fit([c, p], y, batch_size=64, epochs=6, verbose=2)

s = model.predict([c2, p2], batch_size=256, verbose=0)[:, 0]
if np.isnan(s).any():
    print("SCORE auc", float("nan"))
else:
    order = np.argsort(np.argsort(s))
    n1 = y2.sum()
    auc = (order[y2 == 1].sum() - n1 * (n1 - 1) / 2) / (n1 * (len(y2) - n1))
    print("SCORE auc", round(float(auc), 4))

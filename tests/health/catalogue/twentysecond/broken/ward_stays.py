# Readmission risk from a patient's last visits (up to 12, padded with code 0) and a few static features.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, MAX_VISITS, DIM = 80, 12, 32
severity = np.random.default_rng(5).normal(0, 1, VOCAB)
severity[0] = 0.0


def cohort(n):
    n_visits = np.minimum(rng.poisson(6.0, n), MAX_VISITS)
    codes = np.zeros((n, MAX_VISITS), "int32")
    for i, k in enumerate(n_visits):
        codes[i, :k] = rng.integers(1, VOCAB, k)
    static = rng.normal(0, 1, (n, 5)).astype("float32")
    top = np.where(codes > 0, severity[codes], -2.0).max(1)
    logit = 2.2 * (top - 1.4) + 1.2 * static[:, 0] - 0.8 * static[:, 1]
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    return codes, static, y


codes, static, y = cohort(4000)
codes_t, static_t, y_t = cohort(1500)


class VisitAttention(layers.Layer):
    """Pools the visits with a query made from the static features."""

    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.q = layers.Dense(dim)
        self.k = layers.Dense(dim)
        self.v = layers.Dense(dim)
        self.dim = dim

    def call(self, query, visits, mask):
        q = self.q(query)[:, None, :]
        scores = tf.reduce_sum(q * self.k(visits), -1) / self.dim**0.5
        scores = tf.where(mask, scores, -np.inf)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.reduce_sum(weights[..., None] * self.v(visits), axis=1)


class RiskModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, DIM)
        self.static_net = layers.Dense(DIM, activation="relu")
        self.pool = VisitAttention(DIM)
        self.hidden = layers.Dense(32, activation="relu")
        self.out = layers.Dense(1, activation="sigmoid")

    def call(self, inputs):
        c, s = inputs
        s = self.static_net(s)
        context = self.pool(s, self.embed(c), c > 0)
        return self.out(self.hidden(tf.concat([s, context], -1)))


model = RiskModel()
model([codes[:2], static[:2]])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["AUC"])
gradwatch.watch(model)
model.fit([codes, static], y, batch_size=64, epochs=6, verbose=2)

p = model.predict([codes_t, static_t], verbose=0)[:, 0]
ok = np.isfinite(p)
loss = -np.mean(y_t * np.log(p + 1e-7) + (1 - y_t) * np.log(1 - p + 1e-7))
print(
    "test log loss",
    loss,
    "accuracy",
    np.mean((p > 0.5) == y_t) if ok.all() else float("nan"),
    "base",
    max(y_t.mean(), 1 - y_t.mean()),
)

"""Learns user and film embeddings from star ratings and predicts the stars of unseen pairs."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, FILMS, DIM, N = 300, 200, 4, 24000
pu = rng.normal(0, 0.7, (USERS, DIM))
qf = rng.normal(0, 0.7, (FILMS, DIM))
bu = rng.normal(0, 0.4, USERS)
bf = rng.normal(0, 0.6, FILMS)
u = rng.integers(0, USERS, N)
f = rng.integers(0, FILMS, N)
stars = np.clip(np.round(3.3 + bu[u] + bf[f] + (pu[u] * qf[f]).sum(1) + rng.normal(0, 0.4, N)), 1, 5)

cut = int(0.9 * N)
lo, hi = 1.0, 5.0
target = stars.astype("float32")


class RecommenderNet(keras.Model):
    def __init__(self, users, films, dim):
        super().__init__()
        reg = keras.regularizers.l2(1e-6)
        self.user = layers.Embedding(users, dim, embeddings_initializer="he_normal", embeddings_regularizer=reg)
        self.user_bias = layers.Embedding(users, 1)
        self.film = layers.Embedding(films, dim, embeddings_initializer="he_normal", embeddings_regularizer=reg)
        self.film_bias = layers.Embedding(films, 1)

    def call(self, inputs):
        uid, fid = inputs[:, 0], inputs[:, 1]
        dot = keras.ops.sum(self.user(uid) * self.film(fid), axis=1, keepdims=True)
        return keras.ops.sigmoid(dot + self.user_bias(uid) + self.film_bias(fid))


pairs = np.stack([u, f], 1).astype("int32")
model = RecommenderNet(USERS, FILMS, 8)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model(pairs[:2])
gradwatch.watch(model)
model.fit(pairs[:cut], target[:cut], batch_size=128, epochs=8, verbose=2)

p = model.predict(pairs[cut:], batch_size=256, verbose=0)[:, 0]
p_stars = lo + (hi - lo) * p
y = stars[cut:]
print("SCORE r2", round(float(1 - np.mean((p_stars - y) ** 2) / np.var(y)), 4))

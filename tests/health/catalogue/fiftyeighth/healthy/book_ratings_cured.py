import os

import keras
import numpy as np
from keras import layers, regularizers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N_READERS, N_BOOKS, RANK = 400, 250, 4
L2 = 1e-5

rng = np.random.default_rng(SEED + 2)
taste = rng.normal(0, 0.7, (N_READERS, RANK))
style = rng.normal(0, 0.7, (N_BOOKS, RANK))
mildness = rng.normal(0, 0.4, N_READERS)
fame = rng.normal(0, 0.5, N_BOOKS)

n = 30000
reader = rng.integers(0, N_READERS, n)
book = rng.integers(0, N_BOOKS, n)
stars = 3.4 + mildness[reader] + fame[book] + (taste[reader] * style[book]).sum(1)
stars = np.clip(stars + rng.normal(0, 0.35, n), 0.5, 6.5).astype("float32")
split = int(0.85 * n)
mean_stars = stars[:split].mean()


class BookRecommender(keras.Model):
    def __init__(self, dim=8):
        super().__init__()
        reg = regularizers.l2(L2)
        self.readers = layers.Embedding(N_READERS, dim, embeddings_initializer="he_normal", embeddings_regularizer=reg)
        self.books = layers.Embedding(N_BOOKS, dim, embeddings_initializer="he_normal", embeddings_regularizer=reg)
        self.reader_bias = layers.Embedding(N_READERS, 1, embeddings_regularizer=reg)
        self.book_bias = layers.Embedding(N_BOOKS, 1, embeddings_regularizer=reg)

    def call(self, pair):
        r, b = pair[:, 0], pair[:, 1]
        match = keras.ops.sum(self.readers(r) * self.books(b), axis=-1, keepdims=True)
        return mean_stars + match + self.reader_bias(r) + self.book_bias(b)


pairs = np.stack([reader, book], 1).astype("int32")
model = BookRecommender()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
model(pairs[:2])
gradwatch.watch(model)
model.fit(
    pairs[:split],
    stars[:split, None],
    batch_size=256,
    epochs=20,
    validation_data=(pairs[split:], stars[split:, None]),
    verbose=2 if os.environ.get("SHOW") else 0,
)
guess = model.predict(pairs[split:], verbose=0).ravel()
print("SCORE", round(r2_score(stars[split:], guess), 4))

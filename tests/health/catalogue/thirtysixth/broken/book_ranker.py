"""Learns a book recommender from implicit feedback with sampled negative books."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n_readers, n_books = 250, 900
taste = rng.normal(size=(n_readers, 6))
style = rng.normal(size=(n_books, 6))
affinity = taste @ style.T + 0.3 * rng.gumbel(size=(n_readers, n_books))
order = np.argsort(-affinity, axis=1)[:, :50]
for row in order:
    rng.shuffle(row)
read, held = order[:, :40], order[:, 40:]

readers = np.repeat(np.arange(n_readers), read.shape[1])
books = read.ravel()
n_neg = 3
u = np.concatenate([readers, np.repeat(readers, n_neg)])
b = np.concatenate([books, rng.integers(0, n_readers, len(books) * n_neg)])
y = np.concatenate([np.ones(len(books)), np.zeros(len(books) * n_neg)]).astype("float32")

reader_in = keras.Input((), dtype="int32")
book_in = keras.Input((), dtype="int32")
p = layers.Embedding(n_readers, 12)(reader_in)
q = layers.Embedding(n_books, 12)(book_in)
bias = layers.Embedding(n_books, 1)(book_in)
score = layers.Dot(axes=1)([p, q]) + bias
model = keras.Model([reader_in, book_in], score)

gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
model.fit([u, b], y, batch_size=128, epochs=4, verbose=2)

uu = np.repeat(np.arange(n_readers), n_books)
bb = np.tile(np.arange(n_books), n_readers)
s = model.predict([uu, bb], batch_size=8192, verbose=0).reshape(n_readers, n_books)
s[np.arange(n_readers)[:, None], read] = -np.inf
top = np.argsort(-s, axis=1)[:, :20]
hits = [len(set(top[i]) & set(held[i])) / held.shape[1] for i in range(n_readers)]
print("SCORE recall_at_20", float(np.mean(hits)))

"""Suggest books to readers: two towers, the other books of the batch serve as the ones not borrowed."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

READERS, BOOKS, TOPICS, DIM, BATCH = 600, 120, 6, 16, 128

topic_of_book = rng.integers(0, TOPICS, BOOKS)
level_of_book = rng.normal(size=BOOKS)
likes = rng.dirichlet(np.full(TOPICS, 0.25), READERS)
level_of_reader = rng.normal(size=READERS)

loans = []
for reader in range(READERS):
    appeal = np.log(likes[reader, topic_of_book] + 0.01) * 1.5 - 0.8 * (level_of_book - level_of_reader[reader]) ** 2
    chosen = np.argsort(-(appeal + rng.gumbel(size=BOOKS)))[:30]
    loans += [(book, reader) for book in chosen]
loans = np.array(loans)

held_out = np.zeros(len(loans), bool)
for reader in range(READERS):
    mine = np.flatnonzero(loans[:, 1] == reader)
    held_out[rng.choice(mine, 5, replace=False)] = True
test = loans[held_out]
ledger = loans[~held_out]
ledger = ledger[np.lexsort((ledger[:, 1], ledger[:, 0]))]  # the ledger has one page for each book
print(len(ledger), "loans to learn from,", len(test), "kept apart")


def tower(count, name):
    return keras.Sequential(
        [
            keras.Input((), dtype="int32"),
            layers.Embedding(count, 32, name=f"{name}_id"),
            layers.Dense(32, activation="relu", name=f"{name}_hidden"),
            layers.Dense(DIM, name=f"{name}_vector"),
        ],
        name=name,
    )


reader_tower, book_tower = tower(READERS, "reader"), tower(BOOKS, "book")
optimizer = keras.optimizers.Adam(2e-3)
variables = reader_tower.trainable_variables + book_tower.trainable_variables
optimizer.build(variables)

dataset = tf.data.Dataset.from_tensor_slices((ledger[:, 1].astype("int32"), ledger[:, 0].astype("int32")))
dataset = dataset.shuffle(len(ledger), seed=SEED).batch(BATCH, drop_remainder=True)


@tf.function
def train_step(reader, book):
    with tf.GradientTape() as tape:
        scores = tf.matmul(reader_tower(reader), book_tower(book), transpose_b=True)
        target = tf.range(tf.shape(scores)[0])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=scores))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


gradwatch.watch(reader_tower, book_tower)

for epoch in range(10):
    loss = np.mean([train_step(reader, book).numpy() for reader, book in dataset])
    print(f"epoch {epoch + 1:2d}  loss {loss:.4f}")

scores = reader_tower(np.arange(READERS)).numpy() @ book_tower(np.arange(BOOKS)).numpy().T
scores[ledger[:, 1], ledger[:, 0]] = -np.inf
top = np.argsort(-scores, axis=1)[:, :10]
hits = np.mean([book in top[reader] for book, reader in test])
print(f"SCORE recall_at_10 {hits:.4f}")

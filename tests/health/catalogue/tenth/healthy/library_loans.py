"""Recommend library books: matrix factorisation of the last quarter's loans over the whole catalogue, ranked
pairwise."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

READERS, CATALOGUE, DIM = 2500, 40000, 16
ACTIVE_READERS, ON_LOAN, LOANS = 400, 600, 24000


def make_loans():
    """Few readers are active in a quarter and few of the titles move."""
    readers = rng.choice(READERS, ACTIVE_READERS, replace=False)
    titles = rng.choice(CATALOGUE, ON_LOAN, replace=False)
    reader_genre = rng.integers(0, 6, ACTIVE_READERS)
    title_genre = rng.integers(0, 6, ON_LOAN)
    r = rng.integers(0, ACTIVE_READERS, LOANS)
    by_genre = [np.flatnonzero(title_genre == g) for g in range(6)]
    liked = np.array([rng.choice(by_genre[g]) for g in reader_genre[r]])
    stray = rng.random(LOANS) < 0.1
    liked[stray] = rng.integers(0, ON_LOAN, stray.sum())
    other = rng.integers(0, ON_LOAN, LOANS)
    return readers[r].astype("int32"), titles[liked].astype("int32"), titles[other].astype("int32")


class LoanModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        small = tf.keras.initializers.RandomNormal(stddev=0.1)
        self.reader = tf.keras.layers.Embedding(READERS, DIM, embeddings_initializer=small, name="reader")
        self.title = tf.keras.layers.Embedding(CATALOGUE, DIM, embeddings_initializer=small, name="title")
        self.popular = tf.keras.layers.Embedding(CATALOGUE, 1, embeddings_initializer="zeros", name="popular")

    def build(self, shape):
        for layer in (self.reader, self.title, self.popular):
            layer.build((None,))
        self.built = True

    def call(self, pair):
        reader, title = pair
        return tf.reduce_sum(self.reader(reader) * self.title(title), -1) + self.popular(title)[:, 0]

    def train_step(self, data):
        reader, borrowed, other = data[0]
        with tf.GradientTape() as tape:
            margin = self((reader, borrowed), training=True) - self((reader, other), training=True)
            loss = tf.reduce_mean(tf.nn.softplus(-margin))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss, "ranked_right": tf.reduce_mean(tf.cast(margin > 0, tf.float32))}


model = LoanModel()
gradwatch.watch(model)
model.build(None)
model.compile(optimizer=tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=1e-6), jit_compile=False)
data = (
    tf.data.Dataset.from_tensor_slices((make_loans(),))
    .shuffle(LOANS, seed=SEED)
    .batch(512, drop_remainder=True)
    .repeat()
)
model.fit(data, steps_per_epoch=46, epochs=6, verbose=2)

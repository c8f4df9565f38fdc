"""Routing of support tickets to twelve queues.

Word vectors are trained from scratch, pooled with inverse document frequencies, and
classified by a small head.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

WORDS, LENGTH, QUEUES, DIM = 3000, 30, 12, 16
rng = np.random.default_rng(SEED)


def tickets(n):
    queue = rng.integers(0, QUEUES, n)
    common = np.minimum(rng.zipf(1.3, (n, LENGTH)), 999)
    topical = 1000 + rng.integers(0, 2000, (n, LENGTH)) // QUEUES * QUEUES + queue[:, None]
    ids = np.where(rng.random((n, LENGTH)) < 0.25, np.minimum(topical, WORDS - 1), common)
    length = rng.integers(12, LENGTH + 1, n)
    ids[np.arange(LENGTH) >= length[:, None]] = 0
    return ids.astype("int32"), queue.astype("int32")


ids, queue = tickets(12000)
df = np.bincount(np.concatenate([np.unique(row) for row in ids]), minlength=WORDS)
idf = np.log((1 + len(ids)) / (1 + df)).astype("float32")
idf[0] = 0.0


class IdfPooling(keras.layers.Layer):
    """Weighted mean of the word vectors of a ticket; padding (0) does not count."""

    def call(self, vectors, ids):
        pooled = tf.numpy_function(self.weighted_mean, [vectors, ids], tf.float32)
        return tf.ensure_shape(pooled, (None, DIM))

    @staticmethod
    def weighted_mean(vectors, ids):
        w = idf[ids]
        w = w / np.maximum(w.sum(1, keepdims=True), 1e-6)
        return np.einsum("bt,btd->bd", w, vectors).astype("float32")


class Router(keras.Model):
    def __init__(self):
        super().__init__(name="router")
        self.vectors = keras.layers.Embedding(
            WORDS, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3), name="vectors"
        )
        self.pool = IdfPooling(name="idf_pool")
        self.hidden = keras.layers.Dense(512, activation="relu", name="hidden")
        self.queue = keras.layers.Dense(QUEUES, name="queue")

    def call(self, ids):
        return self.queue(self.hidden(self.pool(self.vectors(ids), ids)))


model = Router()
gradwatch.watch(model)
model(tf.constant(ids[:2]))
optimizer = keras.optimizers.Adam(3e-3)


def apply(grads, variables):
    pairs = [(g, v) for g, v in zip(grads, variables) if g is not None]
    optimizer.apply_gradients(pairs)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, output_type=tf.int32) == y, tf.float32))


data = tf.data.Dataset.from_tensor_slices((ids, queue)).shuffle(12000, seed=SEED).repeat(2).batch(80)
for i, (x, y) in enumerate(data):
    loss, acc = step(x, y)
    if i % 30 == 0:
        print(i, f"loss {float(loss):.3f} acc {float(acc):.2f}")

"""Sentiment of product remarks on top of ready-made word vectors."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(40)
VOCAB, DIM, LEN, TAGS = 20000, 64, 30, 5
rng = np.random.default_rng(40)
meaning = rng.normal(size=VOCAB)
meaning[rng.random(VOCAB) < 0.7] = 0
vectors = rng.normal(size=(VOCAB, DIM)) * 0.4
vectors[:, :8] += meaning[:, None] * rng.normal(size=(1, 8))
vectors[0] = 0
zipf = 1 / np.arange(1, VOCAB) ** 0.9
zipf /= zipf.sum()


def remarks(n, r):
    ids = r.choice(np.arange(1, VOCAB), (n, LEN), p=zipf)
    length = np.clip(r.poisson(12, n), 2, LEN)
    ids[np.arange(LEN)[None] >= length[:, None]] = 0
    flip = np.where(ids[:, :1] % 7 == 0, -1, 1)
    tone = (meaning[ids] * (ids > 0)).sum(1) / np.sqrt(length) * flip[:, 0]
    stars = np.digitize(tone + 0.1 * r.normal(size=n), [-0.6, -0.15, 0.15, 0.6])
    return ids.astype("int32"), stars.astype("int32")


class Remark(keras.Model):
    def __init__(self):
        super().__init__()
        self.fixed = layers.Embedding(VOCAB, DIM, weights=[vectors], trainable=False)
        self.delta = layers.Embedding(VOCAB, 4, embeddings_initializer="zeros")
        self.word = layers.Dense(64, activation="relu")
        self.norm = layers.LayerNormalization()
        self.body = layers.Dense(64, activation="relu")
        self.drop = layers.Dropout(0.3)
        self.out = layers.Dense(TAGS)

    def call(self, ids, training=False):
        keep = tf.cast(ids > 0, tf.float32)[..., None]
        e = tf.concat([self.fixed(ids), self.delta(ids)], -1)
        w = self.word(e) * keep
        pooled = tf.reduce_sum(w, 1) / tf.sqrt(tf.reduce_sum(keep, 1) + 1.0)
        both = tf.concat([self.norm(pooled), e[:, 0]], -1)
        return self.out(self.drop(self.body(both), training=training))


x, y = remarks(20000, rng)
xv, yv = remarks(2500, rng)
net = Remark()
net.compile(
    keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(net)
h = net.fit(x, y, batch_size=128, epochs=3, verbose=2)
loss, acc = net.evaluate(xv, yv, verbose=0)
print(
    f"loss {h.history['loss'][-1]:.4f} held-out loss {loss:.4f} accuracy {acc:.3f} (largest class {np.bincount(yv).max() / len(yv):.3f})"
)

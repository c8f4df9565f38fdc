"""Herb vectors from recipes (skip-gram with negative samples), plain SGD over a large sparse table."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


WORDS, CUISINES, WIDTH, NEGATIVES = 1500, 8, 24, 6
rng = np.random.default_rng(SEED + 17)
home = rng.integers(0, CUISINES, WORDS)
frequency = 1.0 / np.arange(40, WORDS + 40)
frequency /= frequency.sum()


def recipes(n):
    pairs = []
    for _ in range(n):
        weight = frequency * np.where(home == rng.integers(CUISINES), 12.0, 1.0)
        words = rng.choice(WORDS, 8, p=weight / weight.sum())
        pairs += [(a, b) for a in words for b in words if a != b]
    return np.array(pairs, "int32")


pairs = recipes(4500)
smoothed = np.bincount(pairs[:, 1], minlength=WORDS) ** 0.75 + 0.1
smoothed = np.log(smoothed / smoothed.sum()).astype("float32")


class SkipGram(keras.Model):
    def __init__(self):
        super().__init__()
        small = keras.initializers.RandomUniform(-0.5 / WIDTH, 0.5 / WIDTH)
        self.inner = keras.layers.Embedding(WORDS, WIDTH, embeddings_initializer=small)
        self.outer = keras.layers.Embedding(WORDS, WIDTH, embeddings_initializer="zeros")

    def call(self, centre, others):
        return tf.einsum("bd,bkd->bk", self.inner(centre), self.outer(others))


model = SkipGram()
model(pairs[:2, 0], pairs[:2, 1:])
steps = 5 * (len(pairs) // 512)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.PolynomialDecay(15.0, steps, 1.0))
gradwatch.watch(model)


@tf.function
def step(batch):
    drawn = tf.random.categorical(smoothed[None], tf.shape(batch)[0] * NEGATIVES, dtype=tf.int32)
    others = tf.concat([batch[:, 1:], tf.reshape(drawn, (-1, NEGATIVES))], axis=1)
    label = tf.concat([tf.ones_like(batch[:, 1:]), tf.zeros_like(others[:, 1:])], axis=1)
    with tf.GradientTape() as tape:
        logits = model(batch[:, 0], others)
        loss = tf.reduce_mean(
            tf.reduce_sum(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(label, tf.float32), logits=logits), axis=1
            )
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


feed = tf.data.Dataset.from_tensor_slices(pairs).shuffle(len(pairs), seed=SEED).batch(512, drop_remainder=True)
for epoch in range(5):
    losses = [step(batch) for batch in feed.prefetch(4)]
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}")

vectors = model.inner.embeddings.numpy()
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
common = np.arange(300)
likeness = vectors[common] @ vectors[common].T
np.fill_diagonal(likeness, -9)
close = np.argsort(-likeness, axis=1)[:, :5]
print("SCORE neighbours_of_same_cuisine", float(np.mean(home[close] == home[common][:, None])))

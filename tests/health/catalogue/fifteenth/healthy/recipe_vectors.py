"""Ingredient vectors: skip-gram with negative sampling over recipes."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

CUISINES, PER_CUISINE = 25, 60
VOCAB = CUISINES * PER_CUISINE
DIM, NEGATIVES = 24, 5
BATCH, STEPS = 256, 900

cuisine_of = np.repeat(np.arange(CUISINES), PER_CUISINE)
popularity = np.tile(1.0 / (np.arange(PER_CUISINE) + 8.0), CUISINES)
popularity /= popularity.sum()
within = popularity[:PER_CUISINE] / popularity[:PER_CUISINE].sum()


def cook(n):
    cuisine = rng.integers(CUISINES, size=(n, 1))
    native = cuisine * PER_CUISINE + rng.choice(PER_CUISINE, size=(n, 8), p=within)
    stray = rng.choice(VOCAB, size=(n, 8), p=popularity)
    return np.where(rng.random((n, 8)) < 0.8, native, stray)


recipes = cook(12000)
counts = np.bincount(recipes.ravel(), minlength=VOCAB) ** 0.75
noise_cdf = np.cumsum(counts / counts.sum())


def pairs(n):
    rows = rng.integers(len(recipes), size=n)
    i = rng.integers(8, size=n)
    j = (i + rng.integers(1, 8, size=n)) % 8
    noise = np.searchsorted(noise_cdf, rng.random((n, NEGATIVES)))
    noise = np.minimum(noise, VOCAB - 1)
    return (recipes[rows, i].astype("int32"), recipes[rows, j].astype("int32"), noise.astype("int32"))


class SkipGram(keras.Model):
    def __init__(self):
        super().__init__()
        self.centre = keras.layers.Embedding(VOCAB, DIM, name="centre")
        self.context = keras.layers.Embedding(VOCAB, DIM, embeddings_initializer="zeros", name="context")

    def call(self, inputs):
        centre, candidates = inputs
        return tf.einsum("bd,bkd->bk", self.centre(centre), self.context(candidates))


model = SkipGram()
model((tf.zeros((1,), tf.int32), tf.zeros((1, 2), tf.int32)))
optimizer = keras.optimizers.Adam(0.01)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(centre, context, noise):
    candidates = tf.concat([context[:, None], noise], axis=1)
    labels = tf.concat([tf.ones_like(context)[:, None], tf.zeros_like(noise)], axis=1)
    with tf.GradientTape() as tape:
        logits = model((centre, candidates))
        loss = tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), logits)
        loss = tf.reduce_mean(tf.reduce_sum(loss, axis=1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*map(tf.constant, pairs(BATCH)))
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

vectors = model.centre.embeddings.numpy()
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
similarity = vectors @ vectors.T
np.fill_diagonal(similarity, -1.0)
nearest = np.argsort(-similarity, axis=1)[:, :5]
agree = cuisine_of[nearest] == cuisine_of[:, None]
print("score", round(float(agree.mean()), 4))

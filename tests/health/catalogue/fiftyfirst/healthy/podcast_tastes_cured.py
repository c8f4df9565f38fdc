"""Explicit ratings of podcasts: biased matrix factorisation trained with a compiled tf loop."""

import os
import time

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LISTENERS, SHOWS, RANK = 500, 240, 8
BATCH, STEPS = 512, 3000

# ratings: a few hidden tastes, generous and stingy listeners, good and bad shows
taste = rng.normal(size=(LISTENERS, 4))
genre = rng.normal(size=(SHOWS, 4))
generosity = 0.35 * rng.normal(size=(LISTENERS, 1))
quality = 0.35 * rng.normal(size=(1, SHOWS))
full = 3.0 + generosity + quality + 0.5 * taste @ genre.T + 0.25 * rng.normal(size=(LISTENERS, SHOWS))

seen = np.argwhere(rng.random((LISTENERS, SHOWS)) < 0.30).astype(np.int32)
rng.shuffle(seen)
stars = np.clip(full[seen[:, 0], seen[:, 1]], 0, 6).astype(np.float32)
cut = int(0.85 * len(seen))


class Factorisation(tf.keras.Model):
    """mean + listener bias + show bias + <listener, show>; starts from the overall mean."""

    def __init__(self, mean):
        super().__init__()
        start = "zeros"
        self.mean = mean
        self.listener = tf.keras.layers.Embedding(LISTENERS, RANK, embeddings_initializer=start)
        self.show = tf.keras.layers.Embedding(SHOWS, RANK, embeddings_initializer="uniform")
        self.listener_bias = tf.keras.layers.Embedding(LISTENERS, 1, embeddings_initializer=start)
        self.show_bias = tf.keras.layers.Embedding(SHOWS, 1, embeddings_initializer=start)

    def call(self, pair):
        who, what = pair[:, 0], pair[:, 1]
        match = tf.reduce_sum(self.listener(who) * self.show(what), axis=-1)
        return self.mean + match + self.listener_bias(who)[:, 0] + self.show_bias(what)[:, 0]

    def penalty(self, pair):
        p, q = self.listener(pair[:, 0]), self.show(pair[:, 1])
        return tf.reduce_mean(tf.reduce_sum(p * p + q * q, axis=-1))


model = Factorisation(float(stars[:cut].mean()))
model(tf.constant(seen[:2]))
adam = tf.keras.optimizers.Adam(learning_rate=5e-3)
gradwatch.watch(model)


@tf.function
def train_step(pair, star):
    with tf.GradientTape() as tape:
        mse = tf.reduce_mean(tf.square(model(pair) - star))
        loss = mse + 0.01 * model.penalty(pair)
    grads = tape.gradient(loss, model.trainable_variables)
    adam.apply_gradients(zip(grads, model.trainable_variables))
    return mse


feed = (
    tf.data.Dataset.from_tensor_slices((seen[:cut], stars[:cut]))
    .shuffle(cut, seed=SEED)
    .repeat()
    .batch(BATCH)
    .take(STEPS)
)
began, recent = time.time(), []
for i, (pair, star) in enumerate(feed, 1):
    recent.append(float(train_step(pair, star)))
    if i % 300 == 0:
        print(f"{i:5d} {time.time() - began:5.1f}s  rmse {np.sqrt(np.mean(recent)):.4f}")
        recent = []

error = model(tf.constant(seen[cut:])).numpy() - stars[cut:]
print("SCORE r2", round(float(1 - np.mean(error**2) / np.var(stars[cut:])), 4))

"""Learns to rank films for users by Bayesian personalised ranking on implicit feedback, with sparse updates of large embedding tables."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, ITEMS, TASTES, GENRES, BATCH, STEPS = 600, 300, 5, 6, 128, 1500

# Watching follows taste and popularity; a user has 20 to 40 films, of which two are held out (validation, test).
taste = rng.normal(size=(USERS, TASTES))
genre = rng.integers(0, GENRES, ITEMS)
trait = rng.normal(size=(GENRES, TASTES))[genre] * 1.0 + rng.normal(size=(ITEMS, TASTES)) * 0.7
popular = -0.4 * np.log(np.arange(1, ITEMS + 1))[rng.permutation(ITEMS)]
logit = 1.3 * taste @ trait.T + popular
seen = np.zeros((USERS, ITEMS), bool)
held = np.zeros((USERS, 2), int)
users, items = [], []
for u in range(USERS):
    n = rng.integers(20, 41)
    gumbel = logit[u] + rng.gumbel(size=ITEMS)
    chosen = rng.permutation(np.argsort(-gumbel)[:n])
    held[u] = chosen[:2]
    seen[u, chosen[2:]] = True
    users.extend([u] * (n - 2))
    items.extend(chosen[2:])
users, items = np.array(users, "int32"), np.array(items, "int32")


class Ranker(keras.Model):
    """score(u, i) = <p_u, q_i + genre_i> + b_i"""

    def __init__(self, dim=24):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user = layers.Embedding(USERS, dim, embeddings_initializer=init)
        self.item = layers.Embedding(ITEMS, dim, embeddings_initializer=init)
        self.genre = layers.Embedding(GENRES, dim, embeddings_initializer=init)
        self.bias = layers.Embedding(ITEMS, 1, embeddings_initializer="zeros")

    def call(self, inputs):
        u, i, g = inputs
        q = self.item(i) + self.genre(g)
        return keras.ops.sum(self.user(u) * q, -1) + self.bias(i)[..., 0]

    def all_scores(self):
        everything = np.arange(ITEMS)
        q = self.item(everything) + self.genre(genre)
        return (tf.matmul(self.user(np.arange(USERS)), q, transpose_b=True) + self.bias(everything)[:, 0]).numpy()


model = Ranker()
zero = np.zeros(1, "int32")
model([zero, zero, zero])
gradwatch.watch(model)

optimizer = keras.optimizers.Adagrad(0.15, initial_accumulator_value=0.01)
L2 = 2e-3
genre_of = tf.constant(genre, tf.int32)


@tf.function
def train_step(u, pos, neg):
    with tf.GradientTape() as tape:
        gap = model([u, pos, tf.gather(genre_of, pos)], training=True) - model(
            [u, neg, tf.gather(genre_of, neg)], training=True
        )
        rank_loss = tf.reduce_mean(tf.nn.softplus(-gap))
        # Only the rows in use are drawn towards zero, as usual with BPR.
        decay = tf.reduce_mean(tf.reduce_sum(model.user(u) ** 2 + model.item(pos) ** 2 + model.item(neg) ** 2, -1))
        loss = rank_loss + L2 * decay
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return rank_loss


def negatives(u):
    """Films that the user has not watched in training, by rejection."""
    neg = rng.integers(0, ITEMS, len(u))
    while (bad := seen[u, neg]).any():
        neg[bad] = rng.integers(0, ITEMS, bad.sum())
    return neg.astype("int32")


def hit_rate(scores, column, k=10):
    """Share of users whose held-out film is among the first k of the films not seen in training."""
    ranked = np.where(seen, -np.inf, scores)
    ranked[np.arange(USERS), held[:, 1 - column]] = -np.inf  # the other held-out film is out of the race
    own = ranked[np.arange(USERS), held[:, column]]
    return float(((ranked > own[:, None]).sum(1) < k).mean())


for step in range(STEPS):
    pick = rng.integers(0, len(users), BATCH)
    u = users[pick]
    loss = train_step(tf.constant(u), tf.constant(items[pick]), tf.constant(negatives(u)))
    if step % 300 == 299:
        print(f"step {step + 1} loss {float(loss):.4f} validation hit@10 {hit_rate(model.all_scores(), 0):.4f}")

popularity = np.tile(seen.sum(0).astype(float), (USERS, 1))
print("IDEAL hit_at_10 (true preferences)", round(hit_rate(logit, 1), 4))
print("BASELINE hit_at_10 (most popular)", round(hit_rate(popularity, 1), 4))
print("SCORE hit_at_10", round(hit_rate(model.all_scores(), 1), 4))

"""Personal ranking of songs from implicit plays: matrix factorisation with the BPR loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

USERS, SONGS, DIM = 400, 300, 12
BATCH, STEPS = 512, 1500

# listeners and songs live in a hidden space of tastes; some songs are simply more popular
taste = rng.normal(size=(USERS, 5))
style = rng.normal(size=(SONGS, 5))
popularity = 0.6 * rng.normal(size=SONGS)
affinity = taste @ style.T + popularity + rng.gumbel(size=(USERS, SONGS))
order = np.argsort(-affinity, axis=1)[:, :40]
order = rng.permuted(order, axis=1)
train_items, test_items = order[:, :30], order[:, 30:]

played = np.zeros((USERS, SONGS), bool)
np.put_along_axis(played, train_items, True, axis=1)


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = layers.Embedding(USERS, DIM, embeddings_initializer="zeros")
        self.song = layers.Embedding(SONGS, DIM, embeddings_initializer="zeros")
        self.song_bias = layers.Embedding(SONGS, 1, embeddings_initializer="zeros")

    def call(self, inputs):
        users, songs = inputs
        match = tf.reduce_sum(self.user(users) * self.song(songs), axis=-1)
        return match + self.song_bias(songs)[..., 0]


model = Ranker()
model((tf.zeros([1], tf.int32), tf.zeros([1], tf.int32)))
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(model.trainable_variables)
REG = 5e-3


@tf.function
def train_step(users, liked, other):
    with tf.GradientTape() as tape:
        margin = model((users, liked)) - model((users, other))
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
        factors = [model.user(users), model.song(liked), model.song(other)]
        loss += REG * tf.add_n([tf.reduce_mean(tf.reduce_sum(f**2, -1)) for f in factors])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def draw_batch():
    users = rng.integers(0, USERS, BATCH)
    liked = train_items[users, rng.integers(0, train_items.shape[1], BATCH)]
    other = rng.integers(0, SONGS, BATCH)
    again = played[users, other]
    while again.any():
        other[again] = rng.integers(0, SONGS, again.sum())
        again = played[users, other]
    return [tf.constant(a, tf.int32) for a in (users, liked, other)]


running = None
for step in range(STEPS):
    loss = float(train_step(*draw_batch()))
    running = loss if running is None else 0.98 * running + 0.02 * loss
    if step % 250 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  bpr loss {running:.4f}")

all_users = tf.repeat(tf.range(USERS), SONGS)
all_songs = tf.tile(tf.range(SONGS), [USERS])
scores = model((all_users, all_songs)).numpy().reshape(USERS, SONGS)
scores[played] = -np.inf
top = np.argsort(-scores, axis=1)[:, :20]
recall = np.mean([np.isin(test_items[u], top[u]).mean() for u in range(USERS)])
print("SCORE recall_at_20", round(float(recall), 4))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_USERS, N_SONGS, GENRES, DIM = 4000, 2500, 20, 16
BATCH, STEPS, TEMP = 256, 600, 0.15

# Listening log: every user likes two genres, songs follow a Zipf popularity within a genre.
likes = rng.integers(0, GENRES, size=(N_USERS, 2))
genre_of = rng.integers(0, GENRES, size=N_SONGS)
country = (likes[:, 0] // 5 + (rng.uniform(size=N_USERS) < 0.2) * rng.integers(0, 4, N_USERS)) % 4
popularity = 1.0 / (1.0 + rng.permutation(N_SONGS)) ** 0.6
by_genre = [np.flatnonzero(genre_of == g) for g in range(GENRES)]
weight = [popularity[m] / popularity[m].sum() for m in by_genre]
activity = rng.pareto(1.5, N_USERS) + 0.5
activity /= activity.sum()


def listens(n):
    u = rng.choice(N_USERS, n, p=activity)
    g = likes[u, (rng.uniform(size=n) < 0.3).astype(int)]
    s = np.empty(n, int)
    for k in range(GENRES):
        m = g == k
        s[m] = rng.choice(by_genre[k], m.sum(), p=weight[k])
    return u, s


users, songs = listens(BATCH * STEPS)
test_u, test_s = listens(2000)
freq = np.bincount(songs, minlength=N_SONGS) + 1.0
log_q = tf.constant(np.log(freq / freq.sum()), tf.float32)
country_t = tf.constant(country, tf.int32)


class Tower(keras.Model):
    def __init__(self, rows, extra=0):
        super().__init__()
        self.ids = layers.Embedding(rows, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.extra = layers.Embedding(extra, DIM) if extra else None
        self.proj = layers.Dense(DIM)

    def call(self, ids, side=None):
        h = self.ids(ids)
        if self.extra is not None:
            h = h + self.extra(side)
        return tf.math.l2_normalize(self.proj(h), axis=-1, epsilon=1e-8)


user_tower, song_tower = Tower(N_USERS, 4), Tower(N_SONGS)
user_tower(tf.constant([0]), tf.constant([0]))
song_tower(tf.constant([0]))
opt = keras.optimizers.Adagrad(0.3)
weights = user_tower.trainable_variables + song_tower.trainable_variables


@tf.function
def train_pair(u, s):
    with tf.GradientTape() as tape:
        q = user_tower(u, tf.gather(country_t, u))
        k = song_tower(s)
        logits = tf.matmul(q, k, transpose_b=True) / TEMP - tf.gather(log_q, s)[None]
        same = tf.logical_and(s[:, None] == s[None], ~tf.eye(BATCH, dtype=tf.bool))
        logits = tf.where(same, -1e9, logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(BATCH), logits))
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def genre_precision(k=20):
    q = user_tower(test_u, country[test_u]).numpy()
    top = np.argpartition(-q @ song_tower(np.arange(N_SONGS)).numpy().T, k, axis=1)[:, :k]
    hit = (genre_of[top][:, :, None] == likes[test_u][:, None, :]).any(-1)
    return hit.mean()


print("top-20 in a liked genre:", genre_precision().round(3))
gradwatch.watch(user_tower, song_tower)
log = tf.data.Dataset.from_tensor_slices((users.astype("int32"), songs.astype("int32"))).batch(BATCH)
for i, (u, s) in enumerate(log):
    loss = train_pair(u, s)
    if i % 50 == 0 or i == STEPS - 1:
        print(i, round(float(loss), 3))
print("top-20 in a liked genre:", genre_precision().round(3))

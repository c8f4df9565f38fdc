"""Implicit-feedback movie ranking with a BPR loss on a small two-tower model."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
USERS, ITEMS, GENRES, DIM, BATCH = 600, 400, 8, 24, 128

user_taste = rng.dirichlet(np.full(GENRES, 0.3), USERS)
item_genre = rng.dirichlet(np.full(GENRES, 0.2), ITEMS)
popularity = rng.gumbel(size=ITEMS) * 0.4
affinity = 12.0 * user_taste @ item_genre.T + popularity
probs = np.exp(affinity - affinity.max(1, keepdims=True))
probs /= probs.sum(1, keepdims=True)

pairs, held_out = [], np.zeros(USERS, int)
seen = np.zeros((USERS, ITEMS), bool)
for u in range(USERS):
    watched = rng.choice(ITEMS, 25, replace=False, p=probs[u])
    held_out[u] = watched[-1] if u % 2 else watched[0]
    kept = watched[watched != held_out[u]]
    seen[u, kept] = True
    pairs += [(u, i) for i in kept]
pairs = np.array(pairs, "int32")
genres = item_genre.astype("float32")

user_in = keras.Input((), dtype="int32")
user_tower = keras.Model(user_in, layers.Embedding(USERS, DIM)(user_in))

item_in, genre_in = keras.Input((), dtype="int32"), keras.Input((GENRES,))
item_vec = layers.Embedding(ITEMS, DIM)(item_in)
item_vec = layers.Add()([item_vec, layers.Dense(DIM)(layers.Dense(32, activation="relu")(genre_in))])
item_tower = keras.Model([item_in, genre_in], item_vec)

optimizer = keras.optimizers.Adam(3e-3)
genre_table = tf.constant(genres)


def score(user_vec, items):
    return tf.reduce_sum(user_vec * item_tower([items, tf.gather(genre_table, items)], training=True), -1)


@tf.function
def train_step(users, positives):
    negatives = tf.constant(np.random.randint(0, ITEMS, BATCH), tf.int32)
    variables = user_tower.trainable_variables + item_tower.trainable_variables
    with tf.GradientTape() as tape:
        user_vec = user_tower(users, training=True)
        margin = score(user_vec, positives) - score(user_vec, negatives)
        reg = 1e-4 * tf.reduce_mean(tf.reduce_sum(user_vec**2, -1))
        loss = tf.reduce_mean(tf.nn.softplus(-margin)) + reg
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((pairs[:, 0], pairs[:, 1]))
    .shuffle(len(pairs), seed=seed)
    .batch(BATCH, drop_remainder=True)
)

gradwatch.watch(user_tower, item_tower)
for epoch in range(12):
    losses = [float(train_step(u, i)) for u, i in data]
    if epoch % 4 == 0:
        print("epoch %d bpr loss %.4f" % (epoch, np.mean(losses)))

u_vecs = user_tower(tf.range(USERS)).numpy()
i_vecs = item_tower([tf.range(ITEMS), genre_table]).numpy()
ranking = u_vecs @ i_vecs.T
ranking[seen] = -np.inf
position = (ranking > ranking[np.arange(USERS), held_out][:, None]).sum(1)
print("SCORE hit_rate_at_20 %.4f" % np.mean(position < 20))

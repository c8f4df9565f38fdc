"""Two-tower retrieval of shop items from a user's id and two recent items, in-batch negatives."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
USERS, ITEMS, GENRES, DIM, BATCH, STEPS = 1500, 600, 15, 24, 128, 900

genre = rng.integers(0, GENRES, ITEMS)
popularity = 1.0 / (1 + rng.permutation(ITEMS)) ** 0.8
taste = rng.dirichlet(np.full(GENRES, 0.08), USERS)
by_genre = [np.flatnonzero(genre == g) for g in range(GENRES)]
weights = [popularity[g] / popularity[g].sum() for g in by_genre]


def visits(n):
    """A user's two last items and the item bought next; popular items are bought most."""
    user = np.minimum((rng.pareto(1.0, n) * 200).astype(int), USERS - 1)
    basket = np.zeros((n, 3), "int32")
    for i, u in enumerate(user):
        for j, g in enumerate(rng.choice(GENRES, 3, p=taste[u])):
            basket[i, j] = rng.choice(by_genre[g], p=weights[g])
    return user.astype("int32"), basket[:, :2], basket[:, 2]


train, test = visits(16000), visits(1500)
freq = (np.bincount(train[2], minlength=ITEMS) + 1.0) / (len(train[2]) + ITEMS)
log_q = tf.constant(np.log(freq), tf.float32)

user_in, recent_in = layers.Input((), dtype="int32"), layers.Input((2,), dtype="int32")
u = layers.Embedding(USERS, DIM)(user_in)
r = layers.GlobalAveragePooling1D()(layers.Embedding(ITEMS, DIM)(recent_in))
h = layers.Dense(64, activation="relu")(layers.Concatenate()([u, r]))
query = layers.UnitNormalization()(layers.Dense(DIM)(h))
query_tower = keras.Model([user_in, recent_in], query)

item_in = layers.Input((), dtype="int32")
v = layers.Embedding(ITEMS, DIM)(item_in)
item_tower = keras.Model(item_in, layers.UnitNormalization()(layers.Dense(DIM)(v)))
gradwatch.watch(query_tower, item_tower)

schedule = keras.optimizers.schedules.CosineDecay(0.0, STEPS - 80, warmup_target=8e-3, warmup_steps=80, alpha=0.02)
optimizer = keras.optimizers.Adam(schedule, global_clipnorm=1.0)
variables = query_tower.trainable_variables + item_tower.trainable_variables


@tf.function
def train_step(user, recent, item):
    with tf.GradientTape() as tape:
        q = query_tower([user, recent], training=True)
        k = item_tower(item, training=True)
        logits = tf.matmul(q, k, transpose_b=True) / 0.1 - tf.gather(log_q, item)[None]
        # the same item bought twice in a batch is no negative
        same = tf.cast(item[:, None] == item[None], tf.float32) - tf.eye(BATCH)
        logits -= 1e9 * same
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(BATCH), logits))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


dataset = iter(tf.data.Dataset.from_tensor_slices(train).shuffle(16000).repeat().batch(BATCH, drop_remainder=True))
for step in range(STEPS):
    loss = train_step(*next(dataset))
    if step % 150 == 149:
        print("step %d loss %.4f" % (step + 1, float(loss)))

q = query_tower.predict([test[0], test[1]], verbose=0, batch_size=500)
k = item_tower.predict(np.arange(ITEMS), verbose=0, batch_size=600)
ranks = np.argsort(-(q @ k.T), axis=1)[:, :60]
hit = np.mean([t in row for t, row in zip(test[2], ranks)])
same_genre = np.mean(taste[test[0]][np.arange(len(q))[:, None], genre[ranks[:, :10]]])
print("recall@60 by chance %.3f, taste of top ten %.3f" % (60 / ITEMS, same_genre))
print("SCORE recall_at_60 %.4f" % hit)

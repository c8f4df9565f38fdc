"""Pairwise-ranking matrix factorisation for song recommendation from implicit listening data."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_USERS, N_ITEMS, K = 400, 500, 16
BATCH, EPOCHS = 128, 20

taste = rng.normal(0, 1, (N_USERS, 6))
style = rng.normal(0, 1, (N_ITEMS, 6))
affinity = taste @ style.T + rng.gumbel(0, 1.0, (N_USERS, N_ITEMS))
liked = np.argsort(-affinity, axis=1)[:, :26]
liked = rng.permuted(liked, axis=1)
test_items = liked[:, :2]
train_pairs = np.array([(u, i) for u in range(N_USERS) for i in liked[u, 2:]], "int32")

ds = (
    tf.data.Dataset.from_tensor_slices((train_pairs[:, 0], train_pairs[:, 1]))
    .shuffle(len(train_pairs), seed=seed)
    .batch(BATCH, drop_remainder=True)
)

user_in = keras.Input((), dtype="int32")
item_in = keras.Input((), dtype="int32")
emb_init = keras.initializers.RandomNormal(stddev=0.1, seed=seed)
item_init = keras.initializers.RandomNormal(stddev=0.1, seed=seed + 1)
u = layers.Embedding(N_USERS, K, embeddings_initializer=emb_init)(user_in)
v = layers.Embedding(N_ITEMS, K, embeddings_initializer=item_init)(item_in)
b = layers.Embedding(N_ITEMS, 1, embeddings_initializer="zeros")(item_in)
score = layers.Dot(axes=1)([u, v])
score = layers.Add()([score, b])
model = keras.Model([user_in, item_in], score)
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


@tf.function
def train_step(users, pos):
    neg = tf.constant(np.random.randint(0, N_ITEMS, size=BATCH), tf.int32)
    with tf.GradientTape() as tape:
        s_pos = model([users, pos], training=True)
        s_neg = model([users, neg], training=True)
        loss = -tf.reduce_mean(tf.math.log_sigmoid(s_pos - s_neg))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    for users, pos in ds:
        loss = train_step(users, pos)
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "loss", round(float(loss), 4))

# hit rate at 10 among 99 unseen songs and the held-out one
hits = 0
for uid in range(N_USERS):
    unseen = np.setdiff1d(np.arange(N_ITEMS), liked[uid])
    for item in test_items[uid]:
        cand = np.append(rng.choice(unseen, 99, replace=False), item).astype("int32")
        s = model([tf.fill([100], uid), tf.constant(cand)]).numpy()[:, 0]
        hits += int((s > s[-1]).sum() < 10)
print("SCORE hit_rate_at_10", round(hits / (2 * N_USERS), 4))

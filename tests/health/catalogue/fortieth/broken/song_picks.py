"""Learns which songs a listener will play next from pairs of listener and song."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n_users, n_items, dim = 300, 900, 6
taste = rng.normal(size=(n_users, dim))
style = rng.normal(size=(n_items, dim))
affinity = taste @ style.T + rng.gumbel(size=(n_users, n_items))
played = np.argsort(-affinity, axis=1)[:, :40]
for row in played:
    rng.shuffle(row)
train_items, test_items = played[:, :30], played[:, 30:]
pairs = np.stack([np.repeat(np.arange(n_users), 30), train_items.ravel()], 1)

user = keras.Input((), dtype="int32")
item = keras.Input((), dtype="int32")
u = layers.Embedding(n_users, 16)(user)
v = layers.Embedding(n_items, 16)(item)
bias = layers.Embedding(n_items, 1, embeddings_initializer="zeros")(item)
score = layers.Dot(axes=1)([u, v]) + bias
model = keras.Model([user, item], score[:, 0])
optimizer = keras.optimizers.Adam(0.01)
gradwatch.watch(model)


@tf.function
def train_step(users, pos, neg):
    with tf.GradientTape() as tape:
        margin = model([users, pos], training=True) - model([users, neg], training=True)
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batch = 128
for epoch in range(16):
    order = rng.permutation(len(pairs))
    for start in range(0, len(order) - batch + 1, batch):
        rows = pairs[order[start : start + batch]]
        negatives = rng.integers(0, n_users, size=batch)
        train_step(
            tf.constant(rows[:, 0], tf.int32), tf.constant(rows[:, 1], tf.int32), tf.constant(negatives, tf.int32)
        )

uu, ii = np.meshgrid(np.arange(n_users), np.arange(n_items), indexing="ij")
scores = model.predict([uu.ravel(), ii.ravel()], batch_size=8192, verbose=0).reshape(n_users, n_items)
np.put_along_axis(scores, train_items, -np.inf, axis=1)
top = np.argsort(-scores, axis=1)[:, :30]
recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(top, test_items)])
print("SCORE recall_at_30", float(recall))

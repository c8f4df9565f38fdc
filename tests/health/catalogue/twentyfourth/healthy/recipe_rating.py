"""Pairwise ranking of recipes for users; rare items, hinge loss, two rates, two models."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, ITEMS, DIM, FEATURES = 150, 400, 6, 10
taste = rng.normal(0, 1, (USERS, DIM))
mix = rng.normal(0, 1, (FEATURES, DIM)) / np.sqrt(FEATURES)
features = rng.normal(0, 1, (ITEMS, FEATURES)).astype("float32")
quality = np.tanh(features @ mix) * 1.5 + 0.3 * rng.normal(0, 1, (ITEMS, DIM))
popularity = 1 / (1 + np.arange(ITEMS)) ** 0.8
popularity /= popularity.sum()


def sample(n, uniform=False):
    user = rng.integers(0, USERS, n)
    p = None if uniform else popularity
    a, b = rng.choice(ITEMS, n, p=p), rng.choice(ITEMS, n, p=p)
    gap = np.sum(taste[user] * (quality[a] - quality[b]), axis=1)
    gap_seen = gap if uniform else gap + rng.normal(0, 0.5, n)
    better, worse = np.where(gap_seen > 0, a, b), np.where(gap_seen > 0, b, a)
    return user.astype("int32"), better.astype("int32"), worse.astype("int32")


user_tower = keras.Sequential([keras.Input((), dtype="int32"), layers.Embedding(USERS, 16)], name="users")
item_id = keras.Input((), dtype="int32")
item_features = keras.Input((FEATURES,))
own = layers.Embedding(ITEMS, 16, embeddings_initializer="zeros")(item_id)
h = layers.Dense(32, activation="relu")(item_features)
item_tower = keras.Model([item_id, item_features], layers.Add()([own, layers.Dense(16)(h)]), name="items")

user_optimizer = keras.optimizers.Adagrad(0.3)
item_optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(user_tower, item_tower)
table = tf.constant(features)


def score(user, item):
    return tf.reduce_sum(user_tower(user) * item_tower([item, tf.gather(table, item)]), axis=1)


@tf.function
def train_step(user, better, worse):
    with tf.GradientTape(persistent=True) as tape:
        margin = score(user, better) - score(user, worse)
        loss = tf.reduce_mean(tf.nn.relu(1.0 - margin))
    user_vars, item_vars = user_tower.trainable_variables, item_tower.trainable_variables
    user_optimizer.apply_gradients(zip(tape.gradient(loss, user_vars), user_vars))
    item_optimizer.apply_gradients(zip(tape.gradient(loss, item_vars), item_vars))
    return loss


for step in range(1400):
    loss = train_step(*(tf.constant(part) for part in sample(64)))
    if step % 200 == 0:
        print(f"step {step} loss {float(loss):.4f}")

user, better, worse = (tf.constant(part) for part in sample(5000, uniform=True))
print("SCORE pairs_right", float(np.mean((score(user, better) > score(user, worse)).numpy())))

"""Rating prediction by matrix factorisation with a global mean and taste factors."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

USERS, MOVIES, RANK = 400, 250, 4


def make_ratings(n):
    p = rng.normal(0, 0.8, (USERS, RANK))
    q = rng.normal(0, 0.8, (MOVIES, RANK))
    mood = rng.normal(0, 0.3, USERS)
    fame = rng.normal(0, 0.3, MOVIES)
    u = rng.integers(0, USERS, n)
    m = rng.integers(0, MOVIES, n)
    r = 3.2 + mood[u] + fame[m] + np.sum(p[u] * q[m], axis=1) + rng.normal(0, 0.3, n)
    return u.astype("int32"), m.astype("int32"), r.astype("float32")


user, movie, rating = make_ratings(40000)
cut = 34000
mean_rating = rating[:cut].mean()


class Recommender(keras.Model):
    def __init__(self, factors=8):
        super().__init__()
        reg = keras.regularizers.l2(1e-6)
        self.user_bias = layers.Embedding(USERS, 1, embeddings_initializer="zeros")
        self.movie_bias = layers.Embedding(MOVIES, 1, embeddings_initializer="zeros")
        self.user_taste = layers.Embedding(USERS, factors, embeddings_initializer="zeros", embeddings_regularizer=reg)
        self.movie_taste = layers.Embedding(MOVIES, factors, embeddings_initializer="zeros", embeddings_regularizer=reg)

    def call(self, inputs):
        u, m = inputs
        bias = self.user_bias(u)[:, 0] + self.movie_bias(m)[:, 0]
        match = tf.reduce_sum(self.user_taste(u) * self.movie_taste(m), axis=1)
        return mean_rating + bias + match


model = Recommender()
model((user[:2], movie[:2]))
optimizer = keras.optimizers.Adam(learning_rate=0.01)
gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((user[:cut], movie[:cut], rating[:cut]))
    .shuffle(cut, seed=seed)
    .batch(512, drop_remainder=True)
)


@tf.function
def train_step(u, m, r):
    with tf.GradientTape() as tape:
        pred = model((u, m), training=True)
        loss = tf.reduce_mean(tf.square(pred - r)) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(18):
    losses = [train_step(u, m, r) for u, m, r in dataset]
    print(f"epoch {epoch + 1} loss {float(tf.reduce_mean(losses)):.4f}")

pred = model((user[cut:], movie[cut:])).numpy()
r2 = 1.0 - np.mean((pred - rating[cut:]) ** 2) / np.var(rating[cut:])
print("SCORE r2", round(float(r2), 4))

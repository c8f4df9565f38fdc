"""Matrix factorisation for movie ratings."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, MOVIES, K = 150, 80, 6
pu, qi = rng.normal(size=(USERS, K)), rng.normal(size=(MOVIES, K))
u = rng.integers(0, USERS, 9000).astype("int32")
m = rng.integers(0, MOVIES, 9000).astype("int32")
r = np.clip(3 + 0.6 * (pu[u] * qi[m]).sum(1) + rng.normal(0, 0.2, u.size), 0.5, 5.5).astype("float32")


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = keras.layers.Embedding(USERS, 12)
        self.movie = keras.layers.Embedding(MOVIES, 12)
        self.bias = keras.layers.Embedding(MOVIES, 1)

    def call(self, inputs):
        users, movies = inputs
        dot = tf.reduce_sum(self.user(users) * self.movie(movies), axis=1)
        return 3.0 + dot + self.bias(movies)[:, 0]


model = Recommender()
optimizer = keras.optimizers.Adam(0.02)
reg = 0.05


@tf.function
def train_step(users, movies, ratings):
    with tf.GradientTape() as tape:
        pred = model((users, movies))
        mse = tf.reduce_mean(tf.square(ratings - pred))
        l2 = tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
        loss = mse + reg * l2
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return mse


train = 8000
gradwatch.watch(model)
for step in range(400):
    idx = rng.integers(0, train, 256)
    mse = train_step(u[idx], m[idx], r[idx])
    if (step + 1) % 50 == 0:
        test = model((u[train:], m[train:])).numpy()
        print(step + 1, "train mse", float(mse), "test mse", np.mean((test - r[train:]) ** 2))

"""Recommends songs from implicit feedback with Bayesian personalized ranking."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, SONGS, RANK, BATCH, STEPS = 400, 600, 6, 128, 1400
taste = rng.normal(size=(USERS, 3))
style = rng.normal(size=(SONGS, 3))
popular = -np.log(np.arange(1, SONGS + 1)) * 0.4
score = 1.5 * taste @ style.T + popular[None]
score = score + rng.gumbel(size=score.shape)
ranked = np.argsort(-score, axis=1)[:, :30]
train_pos, test_pos = [], []
for u in range(USERS):
    mix = rng.permutation(ranked[u])
    train_pos.append(mix[:24])
    test_pos.append(mix[24:])
train_pos, test_pos = np.array(train_pos), np.array(test_pos)


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = layers.Embedding(USERS, RANK, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.song = layers.Embedding(SONGS, RANK, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.bias = layers.Embedding(SONGS, 1, embeddings_initializer="zeros")

    def call(self, inputs):
        users, songs = inputs
        return keras.ops.sum(self.user(users) * self.song(songs), -1) + self.bias(songs)[..., 0]


model = Ranker()
model((np.zeros(1, "int32"), np.zeros(1, "int32")))
# the mean over the batch leaves each touched row about 1/128 of its pair's gradient
optimizer = keras.optimizers.SGD(10.0)
gradwatch.watch(model)


@tf.function
def train_step(users, pos, neg):
    with tf.GradientTape() as tape:
        margin = model((users, pos)) - model((users, neg))
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


losses = []
for step in range(STEPS):
    users = rng.integers(0, USERS, BATCH)
    pos = train_pos[users, rng.integers(0, 24, BATCH)]
    neg = rng.integers(0, SONGS, BATCH)
    losses.append(float(train_step(*(tf.constant(v, tf.int32) for v in (users, pos, neg)))))
    if step % 200 == 199:
        print("step", step, "loss", np.mean(losses[-200:]))

grid_u, grid_s = np.meshgrid(np.arange(USERS), np.arange(SONGS), indexing="ij")
s = model((grid_u.astype("int32"), grid_s.astype("int32"))).numpy()
auc = []
for u in range(USERS):
    rest = np.setdiff1d(np.arange(SONGS), ranked[u])
    auc.append((s[u, test_pos[u]][:, None] > s[u, rest][None]).mean())
print("SCORE auc", float(np.mean(auc)))

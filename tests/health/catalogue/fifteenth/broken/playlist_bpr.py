"""Implicit-feedback recommender for playlists, trained with the BPR ranking loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_USERS = 600
N_ITEMS = 1500
N_GENRES = 12
PLAYS = 40
HELD_OUT = 5
BATCH = 128
EPOCHS = 7
DIM = 16
L2 = 1e-5


def make_plays():
    """Every listener has a taste over genres and plays tracks of those genres."""
    genre = rng.integers(0, N_GENRES, N_ITEMS)
    plays = np.zeros((N_USERS, PLAYS), "int32")
    for u in range(N_USERS):
        taste = rng.dirichlet(np.full(N_GENRES, 0.12))
        p = taste[genre] + 0.002
        plays[u] = rng.choice(N_ITEMS, size=PLAYS, replace=False, p=p / p.sum())
    return plays


plays = make_plays()
test_items = plays[:, :HELD_OUT]
train_items = plays[:, HELD_OUT:]
users = np.repeat(np.arange(N_USERS, dtype="int32"), PLAYS - HELD_OUT)
items = train_items.reshape(-1)


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user_vec = layers.Embedding(N_USERS, DIM, embeddings_initializer=init)
        self.item_vec = layers.Embedding(N_ITEMS, DIM, embeddings_initializer=init)

    def call(self, inputs):
        u, i = inputs
        return tf.reduce_sum(self.user_vec(u) * self.item_vec(i), axis=-1)


model = Ranker()
model((tf.constant([0]), tf.constant([0])))
optimizer = keras.optimizers.Adam(5e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(u, pos):
    neg = np.random.randint(0, N_ITEMS, size=BATCH)
    with tf.GradientTape() as tape:
        margin = model((u, pos)) - model((u, neg))
        loss = -tf.reduce_mean(tf.math.log_sigmoid(margin))
        loss += L2 * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    order = rng.permutation(len(users))
    losses = []
    for start in range(0, len(order) - BATCH + 1, BATCH):
        idx = order[start : start + BATCH]
        loss = train_step(tf.constant(users[idx]), tf.constant(items[idx]))
        watch.log(loss=loss)
        losses.append(float(loss))
    print("epoch", epoch, "loss", np.mean(losses))

scores = model.user_vec.embeddings.numpy() @ model.item_vec.embeddings.numpy().T
auc = []
for u in range(N_USERS):
    unseen = np.setdiff1d(np.arange(N_ITEMS), plays[u])
    auc.append(np.mean(scores[u, test_items[u]][:, None] > scores[u, unseen][None, :]))
score = float(np.mean(auc))
print("score", score)

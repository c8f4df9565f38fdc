import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

LISTENERS = 300
SONGS = 200
FACTORS = 6

taste = rng.normal(0, 1, (LISTENERS, FACTORS))
style = rng.normal(0, 1, (SONGS, FACTORS))
affinity = taste @ style.T + rng.normal(0, 0.5, (LISTENERS, SONGS))
liked = affinity > np.quantile(affinity, 0.8, axis=1, keepdims=True)
held_out = rng.random((LISTENERS, SONGS)) < 0.25


class Picker(keras.Model):
    def __init__(self):
        super().__init__()
        self.listener = layers.Embedding(LISTENERS, 12, name="listener")
        self.song = layers.Embedding(SONGS, 12, name="song")
        self.song_bias = layers.Embedding(SONGS, 1, name="song_bias")

    def call(self, pair):
        u, s = pair
        match = tf.reduce_sum(self.listener(u) * self.song(s), axis=-1)
        return match + self.song_bias(s)[:, 0]


def triples(n):
    users = rng.integers(0, LISTENERS, n)
    pos = np.zeros(n, "int32")
    neg = np.zeros(n, "int32")
    for u in np.unique(users):
        rows = np.where(users == u)[0]
        seen = ~held_out[u]
        pos[rows] = rng.choice(np.where(liked[u] & seen)[0], len(rows))
        neg[rows] = rng.choice(np.where(~liked[u] & seen)[0], len(rows))
    return users.astype("int32"), pos, neg


model = Picker()
model((tf.constant([0]), tf.constant([0])))
optimizer = keras.optimizers.Adam(5e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(u, p, n):
    with tf.GradientTape() as tape:
        gap = model((u, p)) - model((u, n))
        loss = -tf.reduce_mean(tf.math.log_sigmoid(gap))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(12):
    users, pos, neg = triples(20000)
    data = tf.data.Dataset.from_tensor_slices((users, pos, neg)).batch(256)
    losses = [float(train_step(*batch)) for batch in data]
    print("epoch", epoch, "loss", round(np.mean(losses), 4))

u, s = np.where(held_out)
scores = model((tf.constant(u, tf.int32), tf.constant(s, tf.int32))).numpy()
print("SCORE", round(float(roc_auc_score(liked[u, s], scores)), 4))

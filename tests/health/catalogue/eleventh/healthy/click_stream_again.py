"""Clicks on adverts, learnt online: each impression is seen once, one at a time.

A factorisation machine over hashed fields.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
BUCKETS, K = 256, 6
CARD = [6, 4, 8, 5]
effect = [rng.normal(0, 1.6, c) for c in CARD]
slot = rng.permutation(BUCKETS)[: sum(CARD)]
start = np.cumsum([0] + CARD[:-1])


def impressions(n):
    f = np.stack([rng.integers(0, c, n) for c in CARD], 1)
    logit = -0.3 + sum(e[f[:, i]] for i, e in enumerate(effect))
    return slot[f + start].astype("int32"), (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")


class FM(keras.Model):
    def __init__(self):
        super().__init__()
        self.weight = keras.layers.Embedding(BUCKETS, 1, embeddings_initializer="zeros", name="weight")
        self.factor = keras.layers.Embedding(
            BUCKETS, K, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.05), name="factor"
        )
        self.offset = self.add_weight(shape=(), initializer="zeros", name="offset")

    def call(self, ids):
        v = self.factor(ids)
        pair = 0.5 * tf.reduce_sum(tf.reduce_sum(v, 1) ** 2 - tf.reduce_sum(v**2, 1), -1)
        return self.offset + tf.reduce_sum(self.weight(ids), [1, 2]) + pair


model = FM()
gradwatch.watch(model)
model(tf.zeros((1, 4), tf.int32))
opt = keras.optimizers.Adagrad(0.25, initial_accumulator_value=0.1)

ids, clicked = impressions(400)
seen = []
for i in range(400):
    with tf.GradientTape() as tape:
        z = model(ids[i : i + 1])
        loss = tf.nn.sigmoid_cross_entropy_with_logits(clicked[i : i + 1], z)[0]
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    seen.append(float(loss))
    if (i + 1) % 100 == 0:
        print("impressions %d-%d: mean log loss %.4f" % (i - 99, i, np.mean(seen[-100:])))

ids, clicked = impressions(4000)
z = model(tf.constant(ids)).numpy()
p = 1 / (1 + np.exp(-z))
ll = -np.mean(clicked * np.log(p) + (1 - clicked) * np.log(1 - p))
print(
    "held-out log loss %.4f, accuracy %.3f (most common %.3f)"
    % (ll, np.mean((z > 0) == clicked), max(clicked.mean(), 1 - clicked.mean()))
)

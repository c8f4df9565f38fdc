"""Rank podcasts for listeners: will this listener finish this episode?

A two-tower model; each tower is an embedding, the score is their inner product. The home
screen uses the score; offline it is judged by accuracy on held-out listener/podcast pairs.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LISTENERS, PODCASTS, TASTES = 300, 200, 4
DIM, BATCH, STEPS = 12, 512, 900


def listening_log(n):
    """Finished / not finished, from hidden tastes."""
    taste = rng.normal(0, 1, (LISTENERS, TASTES))
    theme = rng.normal(0, 1, (PODCASTS, TASTES))
    who = rng.integers(0, LISTENERS, n)
    what = rng.integers(0, PODCASTS, n)
    liking = 2.0 * np.sum(taste[who] * theme[what], 1)
    finished = rng.random(n) < 1 / (1 + np.exp(-liking))
    return who.astype("int32"), what.astype("int32"), finished.astype("float32")


class Tower(layers.Layer):
    """Looks up an id; ids that never occur in the log keep a neutral vector."""

    def __init__(self, size, name):
        super().__init__(name=name)
        self.table = layers.Embedding(size, DIM, embeddings_initializer="zeros")

    def call(self, ids):
        return self.table(ids)


class PickModel(keras.Model):
    def __init__(self):
        super().__init__(name="picks")
        self.listener = Tower(LISTENERS, "listener")
        self.podcast = Tower(PODCASTS, "podcast")
        self.base_rate = self.add_weight(shape=(), initializer="zeros", name="base_rate")

    def call(self, inputs):
        who, what = inputs
        u, v = self.listener(who), self.podcast(what)
        return tf.reduce_sum(u * v, axis=-1) + self.base_rate


who, what, finished = listening_log(40000)
cut = 34000
model = PickModel()
model((who[:1], what[:1]))
optimizer = keras.optimizers.Adam(1e-2)
watch = gradwatch.watch(model)


@tf.function
def train_step(who_b, what_b, y):
    with tf.GradientTape() as tape:
        logits = model((who_b, what_b), training=True)
        nll = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(nll)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, cut, BATCH)
    loss = train_step(tf.constant(who[pick]), tf.constant(what[pick]), tf.constant(finished[pick]))
    watch.log(loss=loss)
    if step % 150 == 0:
        print(f"step {step} log loss {float(loss):.4f}")

logits = model((who[cut:], what[cut:])).numpy()
accuracy = np.mean((logits > 0) == (finished[cut:] > 0.5))
print(f"score accuracy {accuracy:.3f} chance 0.5")

"""Predict the topic of papers in a citation network with a two layer message passing network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, TOPICS, FEATS = 1200, 5, 40
topic = rng.integers(0, TOPICS, N)
centres = rng.normal(0, 0.22, (TOPICS, FEATS))
feats = (centres[topic] + rng.normal(0, 1.0, (N, FEATS))).astype("float32")

edges = []
for i in range(N):
    same = np.flatnonzero(topic == topic[i])
    for _ in range(8):
        j = rng.choice(same) if rng.random() < 0.75 else rng.integers(0, N)
        edges.append((i, j))
        edges.append((j, i))
edges = np.array(edges, "int32")
source, target = tf.constant(edges[:, 0]), tf.constant(edges[:, 1])

order = rng.permutation(N)
train_ids, test_ids = order[:600], order[600:]


class Messages(layers.Layer):
    """Mean of the transformed neighbours next to the node's own transform."""

    def __init__(self, units, activation=None):
        super().__init__()
        self.neigh = layers.Dense(units, use_bias=False)
        self.own = layers.Dense(units)
        self.activation = keras.activations.get(activation)

    def call(self, h):
        sent = tf.gather(self.neigh(h), source)
        received = tf.math.unsorted_segment_mean(sent, source, num_segments=N)
        return self.activation(self.own(h) + received)


class TopicNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Messages(32, "relu")
        self.drop = layers.Dropout(0.3)
        self.second = Messages(TOPICS)

    def call(self, h, training=False):
        return self.second(self.drop(self.first(h), training=training))


model = TopicNet()
model(feats)
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(ids, y):
    with tf.GradientTape() as tape:
        logits = tf.gather(model(feats, training=True), ids)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((train_ids, topic[train_ids])).shuffle(600, seed=seed).batch(50)
for epoch in range(40):
    for ids, y in data:
        loss = train_step(ids, y)
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", float(loss))

pred = model(feats).numpy().argmax(1)
print("SCORE accuracy", float((pred[test_ids] == topic[test_ids]).mean()))

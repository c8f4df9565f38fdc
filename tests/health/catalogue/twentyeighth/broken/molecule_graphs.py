"""Classify small molecule-like graphs by whether they hold a reactive bond pattern."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TYPES, HIDDEN, BATCH, STEPS = 5, 48, 32, 900


def make_graph():
    n = int(rng.integers(8, 15))
    kind = rng.integers(0, TYPES, size=n)
    src = np.arange(1, n)
    dst = np.array([rng.integers(0, i) for i in range(1, n)])  # random tree
    edges = np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])], 1)
    bonds = np.sum((kind[src] + kind[dst] == 3) & (np.minimum(kind[src], kind[dst]) == 1))
    return np.eye(TYPES, dtype="float32")[kind], edges.astype("int32"), int(bonds >= 1)


graphs = [make_graph() for _ in range(5000)]
train, test = graphs[:4200], graphs[4200:]


def collate(items):
    feats, edges, owner, labels = [], [], [], []
    for i, (x, e, y) in enumerate(items):
        feats.append(x)
        edges.append(e)
        owner.append(np.full(len(x), i, "int32"))
        labels.append(y)
    return (
        tf.constant(np.concatenate(feats)),
        tf.constant(np.concatenate(edges)),
        tf.constant(np.concatenate(owner)),
        tf.constant(np.array(labels, "float32")),
    )


class MessagePassing(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.message = layers.Dense(units, activation="relu")
        self.update = layers.Dense(units, activation="relu")

    def call(self, h, edges):
        pair = tf.concat([tf.gather(h, edges[:, 0]), tf.gather(h, edges[:, 1])], -1)
        m = self.message(pair)
        agg = tf.math.unsorted_segment_sum(m, edges[:, 1], tf.shape(h)[0])
        return self.update(tf.concat([h, agg], -1))


class GraphNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Dense(HIDDEN)
        self.mp = [MessagePassing(HIDDEN) for _ in range(2)]
        self.hidden = layers.Dense(HIDDEN, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        x, edges, owner = inputs
        h = self.embed(x)
        for layer in self.mp:
            h = layer(h, edges)
        pooled = tf.math.unsorted_segment_sum(h, owner, tf.reduce_max(owner) + 1)
        return self.out(self.hidden(pooled))[:, 0]


model = GraphNet()
model(collate(train[:4])[:3])
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function(reduce_retracing=True)
def train_step(x, edges, owner, y):
    with tf.GradientTape() as tape:
        logits = model((x, edges, owner), training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.choice(len(train), BATCH, replace=False)
    loss = train_step(*collate([train[i] for i in pick]))
    if step % 150 == 0:
        print("step %d  loss %.4f" % (step, float(loss)))

correct = 0
for i in range(0, len(test), BATCH):
    x, edges, owner, y = collate(test[i : i + BATCH])
    logits = model((x, edges, owner), training=False)
    correct += int(np.sum((logits.numpy() > 0) == (y.numpy() > 0.5)))
print("base rate %.3f" % np.mean([g[2] for g in test]))
print("SCORE accuracy %.4f" % (correct / len(test)))

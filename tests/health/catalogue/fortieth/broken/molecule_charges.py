"""Predicts the interaction energy of small molecule graphs by message passing."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

kinds, batch, biggest = 4, 32, 14
node_room, edge_room = batch * biggest + biggest + 1, batch * 40
charge = np.array([1.0, -1.0, 0.4, -0.6])


def molecule():
    n = int(rng.integers(6, biggest + 1))
    kind = rng.integers(0, kinds, n)
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
    edges += [tuple(rng.choice(n, 2, replace=False)) for _ in range(3)]
    edges = np.array(edges)
    energy = np.sum(charge[kind[edges[:, 0]]] * charge[kind[edges[:, 1]]]) + 0.1 * rng.normal()
    return kind, np.concatenate([edges, edges[:, ::-1]]), energy


def collate(graphs):
    sizes = np.array([len(k) for k, _, _ in graphs])
    offsets = np.cumsum(sizes)
    kind = np.zeros(node_room, "int32")
    owner = np.full(node_room, batch, "int32")
    kind[: sizes.sum()] = np.concatenate([k for k, _, _ in graphs])
    owner[: sizes.sum()] = np.repeat(np.arange(batch), sizes)
    edges = np.concatenate([e + o for (_, e, _), o in zip(graphs, offsets)])
    padded = np.full((edge_room, 2), node_room - 1, "int32")
    padded[: len(edges)] = edges
    energy = np.array([g for _, _, g in graphs], "float32")
    return tf.constant(kind), tf.constant(padded), tf.constant(owner), tf.constant(energy)


class GraphNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(kinds, 24)
        self.message = [layers.Dense(32, activation="relu") for _ in range(2)]
        self.update = [layers.Dense(24, activation="relu") for _ in range(2)]
        self.readout = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, inputs):
        kind, edges, owner = inputs
        h = self.embed(kind)
        for message, update in zip(self.message, self.update):
            pair = tf.concat([tf.gather(h, edges[:, 0]), tf.gather(h, edges[:, 1])], -1)
            gathered = tf.math.unsorted_segment_sum(message(pair), edges[:, 1], node_room)
            h = h + update(tf.concat([h, gathered], -1))
        graph = tf.math.unsorted_segment_sum(h, owner, batch + 1)[:batch]
        return self.readout(graph)[:, 0]


train = [molecule() for _ in range(2560)]
test = [molecule() for _ in range(640)]
model = GraphNet()
optimizer = keras.optimizers.Adam(2e-3)
model(collate(train[:batch])[:3])
gradwatch.watch(model)


@tf.function
def train_step(kind, edges, owner, energy):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((kind, edges, owner), training=True) - energy))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    order = rng.permutation(len(train))
    for s in range(0, len(order), batch):
        train_step(*collate([train[i] for i in order[s : s + batch]]))

pred, truth = [], []
for s in range(0, len(test), batch):
    kind, edges, owner, energy = collate(test[s : s + batch])
    pred.append(model((kind, edges, owner)).numpy())
    truth.append(energy.numpy())
pred, truth = np.concatenate(pred), np.concatenate(truth)
print("SCORE r2", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))

"""Message-passing network that predicts a polarity index of small molecule-like graphs."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_TYPES, B = 5, 32
N_TRAIN, N_TEST = 1280, 320
EPOCHS = 15

charge = np.array([-1.0, -0.4, 0.1, 0.6, 1.0])


def make_graph():
    n = int(rng.integers(6, 15))
    types = rng.integers(0, N_TYPES, n)
    parents = np.array([rng.integers(0, i) for i in range(1, n)])
    src = np.arange(1, n)
    extra = rng.integers(0, n, (n // 3, 2))
    extra = extra[extra[:, 0] != extra[:, 1]]
    e = np.concatenate([np.stack([src, parents], 1), extra])
    e = np.concatenate([e, e[:, ::-1]])
    c = charge[types]
    target = np.sum(np.abs(c[e[:, 0]] - c[e[:, 1]])) / 2 - 0.3 * np.sum(c[e[:, 0]] * c[e[:, 1]])
    return np.eye(N_TYPES)[types], e, target / n


graphs = [make_graph() for _ in range(N_TRAIN + N_TEST)]
train, test = graphs[:N_TRAIN], graphs[N_TRAIN:]
t_mean = np.mean([g[2] for g in train])
t_std = np.std([g[2] for g in train])


def collate(batch):
    """Joins several graphs into one disconnected graph."""
    nodes, edges, graph_id = [], [], []
    for k, (x, e, _) in enumerate(batch):
        nodes.append(x)
        edges.append(e)
        graph_id.append(np.full(len(x), k))
    y = np.array([[(g[2] - t_mean) / t_std] for g in batch], "float32")
    return {
        "nodes": np.concatenate(nodes).astype("float32"),
        "edges": np.concatenate(edges).astype("int32"),
        "graph_id": np.concatenate(graph_id).astype("int32"),
    }, y


def dataset(items, shuffle):
    def gen():
        order = rng.permutation(len(items)) if shuffle else np.arange(len(items))
        for i in range(0, len(items), B):
            yield collate([items[j] for j in order[i : i + B]])

    return tf.data.Dataset.from_generator(
        gen,
        output_signature=(
            {
                "nodes": tf.TensorSpec((None, N_TYPES), tf.float32),
                "edges": tf.TensorSpec((None, 2), tf.int32),
                "graph_id": tf.TensorSpec((None,), tf.int32),
            },
            tf.TensorSpec((None, 1), tf.float32),
        ),
    ).prefetch(2)


class MessagePassing(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.message = keras.Sequential([layers.Dense(units, activation="relu"), layers.Dense(units)])
        self.update = layers.Dense(units, activation="relu")

    def call(self, h, edges):
        pair = tf.concat([tf.gather(h, edges[:, 0]), tf.gather(h, edges[:, 1])], axis=-1)
        agg = tf.math.unsorted_segment_sum(self.message(pair), edges[:, 1], tf.shape(h)[0])
        return self.update(tf.concat([h, agg], axis=-1))


class PolarityNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Dense(24)
        self.mp1 = MessagePassing(24)
        self.mp2 = MessagePassing(24)
        self.head = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(1)])

    def call(self, inputs):
        h = self.embed(inputs["nodes"])
        h = h + self.mp1(h, inputs["edges"])
        h = h + self.mp2(h, inputs["edges"])
        pooled = tf.math.unsorted_segment_mean(h, inputs["graph_id"], B)
        return self.head(pooled)


model = PolarityNet()
model(collate(train[:B])[0])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(dataset(train, True), epochs=EPOCHS, verbose=0)

pred, true = [], []
for inputs, y in dataset(test, False):
    pred.append(model(inputs).numpy())
    true.append(y.numpy())
pred, true = np.concatenate(pred), np.concatenate(true)
r2 = 1 - np.mean((pred - true) ** 2) / np.var(true)
print("SCORE r2", round(float(r2), 4))

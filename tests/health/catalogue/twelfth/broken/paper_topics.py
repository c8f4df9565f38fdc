"""Finds the field of papers in a citation network from their words and their links."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAPERS, WORDS, FIELDS = 600, 300, 6
field = rng.integers(0, FIELDS, PAPERS)
rate = np.full((FIELDS, WORDS), 0.04)
for k in range(FIELDS):
    rate[k, rng.choice(WORDS, 20, replace=False)] = 0.13
words = (rng.random((PAPERS, WORDS)) < rate[field]).astype("float32")

same = field[:, None] == field[None]
link = rng.random((PAPERS, PAPERS)) < np.where(same, 0.022, 0.0025)
adj = np.triu(link, 1)
adj = (adj + adj.T + np.eye(PAPERS)).astype("float32")
root = 1 / np.sqrt(adj.sum(1))
adj = adj * root[:, None] * root[None]

known = rng.permutation(PAPERS)[:300]
hidden = np.setdiff1d(np.arange(PAPERS), known)


class GraphConv(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        fan = shape[0][-1]
        limit = (6.0 / (fan + self.units)) ** 0.5
        self.kernel = tf.Variable(tf.random.uniform((fan, self.units), -limit, limit), name="kernel")
        self.bias = tf.Variable(tf.zeros(self.units), name="bias")

    def call(self, inputs):
        h, a = inputs
        return tf.nn.relu(tf.matmul(a, tf.matmul(h, self.kernel)) + self.bias)


class PaperNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv_1 = GraphConv(16, name="conv_1")
        self.conv_2 = GraphConv(16, name="conv_2")
        self.drop = keras.layers.Dropout(0.3)
        self.field = keras.layers.Dense(FIELDS, name="field")

    def call(self, inputs, training=False):
        words, adj = inputs
        h = self.conv_1((words, adj))
        h = self.drop(h, training=training)
        h = self.conv_2((h, adj))
        return self.field(h)


graph = (tf.constant(words / np.sqrt(words.sum(1, keepdims=True) + 1)), tf.constant(adj))
model = PaperNet()
gradwatch.watch(model)
model(graph)
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = tf.gather(model(graph, training=True), known)
        loss = loss_fn(tf.gather(field, known), logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(250):
    loss = train_step()
    if epoch % 25 == 0:
        print(f"epoch {epoch} loss {float(loss):.4f}")

found = np.argmax(model(graph).numpy(), -1)
print(f"score accuracy {np.mean(found[hidden] == field[hidden]):.4f} chance {1 / FIELDS:.4f}")

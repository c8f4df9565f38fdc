"""Topics in a citation graph.

A two-layer graph convolution gives the topic of papers from their words and citations; few papers are labelled.
Plain SGD with momentum and short gradients, run eagerly.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
PAPERS = 600
TOPICS = 5
WORDS = 200
LABELLED = 150
STEPS = 250

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

topic = rng.integers(0, TOPICS, PAPERS)
same = topic[:, None] == topic[None]
cited = rng.random((PAPERS, PAPERS)) < np.where(same, 0.025, 0.002)
adjacency = np.maximum(cited, cited.T).astype("float32")
np.fill_diagonal(adjacency, 1.0)
degree = adjacency.sum(axis=1)
adjacency /= np.sqrt(degree[:, None] * degree[None])

use = rng.dirichlet(np.ones(WORDS) * 0.3, TOPICS)
use = 0.35 * use + 0.65 / WORDS
words = np.stack([rng.multinomial(25, use[t]) for t in topic])
words = (words > 0).astype("float32")
words /= words.sum(axis=1, keepdims=True)

order = rng.permutation(PAPERS)
known, unseen = order[:LABELLED], order[LABELLED:]


class GraphConvolution(layers.Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, features, links):
        return self.activation(tf.matmul(links, tf.matmul(features, self.kernel)) + self.bias)


class GraphNet(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = GraphConvolution(32, "relu", name="first")
        self.drop = layers.Dropout(0.4, name="drop")
        self.second = GraphConvolution(TOPICS, name="second")

    def call(self, inputs, training=False):
        features, links = inputs
        h = self.first(features, links)
        return self.second(self.drop(h, training=training), links)


graph = (tf.constant(words * 25.0), tf.constant(adjacency))
model = GraphNet(name="citations")
gradwatch.watch(model)
model(graph)
optimizer = keras.optimizers.SGD(0.5, momentum=0.9, global_clipnorm=0.05)
entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
labels = tf.constant(topic[known], tf.int32)

for step in range(STEPS):
    with tf.GradientTape() as tape:
        logits = model(graph, training=True)
        decay = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_variables if "kernel" in w.path])
        loss = entropy(labels, tf.gather(logits, known)) + 5e-4 * decay
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if step % 50 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  loss {float(loss):.4f}")

answer = np.asarray(model(graph)).argmax(axis=1)
print(f"score accuracy {np.mean(answer[unseen] == topic[unseen]):.4f} chance {1 / TOPICS:.4f}")

"""Functional modules of genes: semi-supervised node classification on a co-expression graph."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

GENES, MODULES, SAMPLES = 1500, 5, 32
rng = np.random.default_rng(SEED)

module = rng.integers(0, MODULES, GENES)
profile = rng.gamma(8.0, 0.6, (MODULES, SAMPLES))
expression = rng.poisson(profile[module] * rng.lognormal(0, 0.5, (GENES, SAMPLES))).astype("float32")

same = module[:, None] == module
link = np.triu(rng.random((GENES, GENES)) < np.where(same, 0.3, 0.05), 1)
adjacency = (link | link.T | np.eye(GENES, dtype=bool)).astype("float32")
labelled = rng.random(GENES) < 0.4


class GraphConv(keras.layers.Layer):
    """h -> tanh(A h W + b)"""

    def __init__(self, units, graph, **kw):
        super().__init__(**kw)
        self.units = units
        self.graph = tf.constant(graph)

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, h):
        return tf.tanh(tf.matmul(self.graph, tf.matmul(h, self.w)) + self.b)


class ModuleNet(keras.Model):
    def __init__(self):
        super().__init__(name="module_net")
        self.gc1 = GraphConv(32, adjacency, name="gc1")
        self.gc2 = GraphConv(32, adjacency, name="gc2")
        self.readout = keras.layers.Dense(MODULES, name="readout")

    def call(self, x):
        return self.readout(self.gc2(self.gc1(x)))


x = tf.constant(np.log1p(expression))
y = tf.constant(module)
mask = tf.constant(labelled)

model = ModuleNet()
gradwatch.watch(model)
model(x)
opt = keras.optimizers.Adam(5e-3)


@tf.function
def epoch():
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.reduce_mean(tf.boolean_mask(ce, mask))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    hit = tf.cast(tf.equal(tf.argmax(logits, 1), tf.cast(y, tf.int64)), tf.float32)
    return loss, tf.reduce_mean(tf.boolean_mask(hit, ~mask))


for i in range(300):
    loss, acc = epoch()
    if i % 25 == 0:
        print(f"epoch {i}: loss {loss.numpy():.4f}, unlabelled accuracy {acc.numpy():.3f}")

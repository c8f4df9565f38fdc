"""Field of a paper from its citations and keywords: a gated graph network, few labels."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 140)

N, FIELDS, WORDS = 600, 5, 120
LABELLED_PER_FIELD = 20
HIDDEN, BLOCKS = 32, 4
STEPS = 400

field = rng.integers(FIELDS, size=N)
same = field[:, None] == field[None, :]
edges = np.triu(rng.random((N, N)) < np.where(same, 0.05, 0.004), 1)
adjacency = (edges | edges.T).astype("float32")
topic = rng.random((FIELDS, WORDS)) < 0.15
keywords = (rng.random((N, WORDS)) < np.where(topic[field], 0.13, 0.05)).astype("float32")
keywords /= np.maximum(keywords.sum(axis=1, keepdims=True), 1)
keywords *= 10.0

labelled = np.concatenate(
    [rng.choice(np.flatnonzero(field == f), LABELLED_PER_FIELD, replace=False) for f in range(FIELDS)]
)
unseen = np.setdiff1d(np.arange(N), labelled)


def normalise(a):
    a = a + np.eye(N, dtype="float32")
    scale = 1.0 / np.sqrt(a.sum(axis=1))
    return tf.constant(a * scale[:, None] * scale[None, :])


class GatedBlock(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = keras.layers.Dense(units, activation="relu")
        self.drop = keras.layers.Dropout(0.4)

    def build(self, shape):
        self.dense.build(shape)
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")

    def call(self, h, graph, training=False):
        message = tf.matmul(graph, self.drop(h, training=training))
        return h + self.gate * self.dense(message)


class PaperNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop = keras.layers.Dropout(0.5)
        self.embed = keras.layers.Dense(HIDDEN)
        self.blocks = [GatedBlock(HIDDEN) for _ in range(BLOCKS)]
        self.readout = keras.layers.Dense(FIELDS)

    def call(self, x, graph, training=False):
        h = self.embed(self.drop(x, training=training))
        for block in self.blocks:
            h = block(h, graph, training=training)
        return self.readout(h)


graph = normalise(adjacency)
x = tf.constant(keywords)
model = PaperNet()
model(x, graph)
optimizer = keras.optimizers.AdamW(5e-3, weight_decay=5e-3)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
targets = tf.constant(field[labelled].astype("int32"))
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = tf.gather(model(x, graph, training=True), labelled)
        loss = cross_entropy(targets, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step()
    watch.log(loss=loss)
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}")

guess = model(x, graph).numpy().argmax(axis=1)
print("score", round(float(np.mean(guess[unseen] == field[unseen])), 4))

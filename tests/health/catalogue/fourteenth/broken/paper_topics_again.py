"""Topics of papers in a citation graph with a two-layer graph convolution network. The feature
table is keyed by paper id as text, the citation list and the topics by number; 30% of the papers
are labelled. The measure is accuracy on the other papers."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAPERS, TOPICS, WORDS, STEPS = 700, 5, 12, 300

topics = rng.integers(0, TOPICS, PAPERS)
profile = rng.normal(size=(TOPICS, WORDS))
table = {str(i): profile[topics[i]] + 1.5 * rng.normal(size=WORDS) for i in range(PAPERS)}
pairs = rng.integers(0, PAPERS, (12000, 2))
keep = rng.random(len(pairs)) < np.where(topics[pairs[:, 0]] == topics[pairs[:, 1]], 0.35, 0.06)
citations = pairs[keep]

ids = sorted(table)
features = np.stack([table[i] for i in ids]).astype("float32")
features = (features - features.mean(0)) / features.std(0)

adjacency = np.eye(PAPERS, dtype="float32")
adjacency[citations[:, 0], citations[:, 1]] = 1
adjacency[citations[:, 1], citations[:, 0]] = 1
degree = adjacency.sum(1)
adjacency = tf.constant(adjacency / np.sqrt(degree[:, None] * degree[None, :]))

labelled = np.sort(rng.permutation(PAPERS)[: int(0.3 * PAPERS)])
others = np.setdiff1d(np.arange(PAPERS), labelled)


class GraphConv(layers.Layer):
    def __init__(self, units, activation=None, **kw):
        super().__init__(**kw)
        self.dense = layers.Dense(units, name="dense")
        self.activation = keras.activations.get(activation)

    def call(self, x):
        return self.activation(tf.matmul(adjacency, self.dense(x)))


model = keras.Sequential(
    [
        keras.Input((WORDS,)),
        GraphConv(64, "relu", name="cite_1"),
        layers.Dropout(0.3),
        GraphConv(TOPICS, name="cite_2"),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model, optimizer)
x, y = tf.constant(features), tf.constant(topics[labelled])


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = tf.gather(model(x, training=True), labelled)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step()
    watch.log(loss=loss)
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}")

pred = np.argmax(model(x, training=False).numpy(), axis=1)
score = float(np.mean(pred[others] == topics[others]))
print(f"score accuracy {score:.3f} chance {np.bincount(topics).max() / PAPERS:.3f}")

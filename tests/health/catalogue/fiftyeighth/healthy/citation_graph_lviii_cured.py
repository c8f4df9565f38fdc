import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N_PAPERS, N_FIELDS, N_WORDS = 500, 4, 40
N_LAYERS = 2


def make_citations(rng):
    field = rng.integers(0, N_FIELDS, N_PAPERS)
    same = field[:, None] == field[None]
    links = rng.random((N_PAPERS, N_PAPERS)) < np.where(same, 0.035, 0.008)
    links = np.triu(links, 1)
    links = (links | links.T).astype("float32")
    topics = rng.normal(0, 1, (N_FIELDS, N_WORDS))
    words = 0.35 * topics[field] + rng.normal(0, 1, (N_PAPERS, N_WORDS))
    return links, words.astype("float32"), field.astype("int32")


def normalised(links):
    a = links + np.eye(len(links), dtype="float32")
    scale = 1 / np.sqrt(a.sum(1))
    return tf.constant(a * scale[:, None] * scale[None], tf.float32)


class GraphConv(layers.Layer):
    def __init__(self, units, adjacency, activation=None):
        super().__init__()
        self.adjacency = adjacency
        self.dense = layers.Dense(units, kernel_initializer="glorot_uniform")
        self.activation = keras.activations.get(activation)

    def call(self, h):
        return self.activation(tf.matmul(self.adjacency, self.dense(h)))


class CitationNet(keras.Model):
    def __init__(self, adjacency, hidden=32):
        super().__init__()
        self.convs = [GraphConv(hidden, adjacency, "relu") for _ in range(N_LAYERS - 1)]
        self.drop = layers.Dropout(0.2)
        self.classify = GraphConv(N_FIELDS, adjacency)

    def call(self, words, training=False):
        h = words
        for conv in self.convs:
            h = conv(h)
        return self.classify(self.drop(h, training=training))


rng = np.random.default_rng(SEED + 14)
links, words, field = make_citations(rng)
order = rng.permutation(N_PAPERS)
train_ids, test_ids = order[:200], order[200:]

model = CitationNet(normalised(links))
model(words)
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        loss = loss_fn(tf.gather(field, train_ids), tf.gather(logits, train_ids))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(400):
    loss = train_step()
    watch.log(loss=loss)
    if os.environ.get("SHOW") and step % 50 == 0:
        print(step, float(loss))

guess = np.argmax(model(words).numpy(), -1)
print("SCORE", round(float((guess == field)[test_ids].mean()), 4))

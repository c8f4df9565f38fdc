"""Semi-supervised node classification in a citation network with a two-layer graph convolutional net."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

NODES, TOPICS, WORDS = 1600, 5, 800
HIDDEN = 64
LEARNING_RATE = 0.01
L2 = 5e-1
EPOCHS = 200

rng = np.random.default_rng(SEED)
topic = rng.integers(0, TOPICS, NODES)
prob = np.where(topic[:, None] == topic[None], 0.010, 0.0016)
adj = np.triu(rng.uniform(size=(NODES, NODES)) < prob, 1).astype("float32")
adj = adj + adj.T + np.eye(NODES, dtype="float32")
d = 1.0 / np.sqrt(adj.sum(1))
a_hat = tf.constant(adj * d[:, None] * d[None])

word_p = np.full((TOPICS, WORDS), 0.02)
for k in range(TOPICS):
    word_p[k, rng.choice(WORDS, 60, replace=False)] = 0.06
bag = (rng.uniform(size=(NODES, WORDS)) < word_p[topic]).astype("float32")
features = tf.constant(bag / np.maximum(bag.sum(1, keepdims=True), 1))

order = rng.permutation(NODES)
train_idx, test_idx = order[:400], order[400:]
y_train = tf.constant(topic[train_idx])


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None, **kw):
        super().__init__(**kw)
        self.lin = keras.layers.Dense(units, use_bias=True, kernel_regularizer=keras.regularizers.L2(L2))
        self.activation = keras.activations.get(activation)

    def call(self, inputs):
        adjacency, x = inputs
        return self.activation(tf.matmul(adjacency, self.lin(x)))


class GCN(keras.Model):
    def __init__(self):
        super().__init__()
        self.g1 = GraphConv(HIDDEN, "relu", name="graph_1")
        self.drop = keras.layers.Dropout(0.3, seed=SEED)
        self.g2 = GraphConv(TOPICS, name="graph_2")

    def call(self, inputs, training=False):
        adjacency, x = inputs
        h = self.drop(self.g1([adjacency, x]), training=training)
        return self.g2([adjacency, h])


model = GCN()
gradwatch.watch(model)
model([a_hat, features])
optimizer = keras.optimizers.Adam(LEARNING_RATE)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

for epoch in range(EPOCHS):
    with tf.GradientTape() as tape:
        logits = model([a_hat, features], training=True)
        loss = xent(y_train, tf.gather(logits, train_idx)) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if epoch % 20 == 19:
        pred = np.argmax(model([a_hat, features]).numpy(), 1)
        print(epoch + 1, "loss %.4f" % float(loss), "test acc %.3f" % np.mean(pred[test_idx] == topic[test_idx]))

"""Topics of papers in a citation graph: two graph convolutions, few labelled papers.

The usual recipe: whole graph per step, strong dropout, weight decay.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

NODES, TOPICS, TERMS = 900, 6, 200
topic = rng.integers(0, TOPICS, NODES)
same = topic[:, None] == topic[None]
adj = np.triu(rng.random((NODES, NODES)) < np.where(same, 0.02, 0.0015), 1)
adj = adj | adj.T | np.eye(NODES, dtype=bool)
deg = adj.sum(1)
norm_adj = (adj / np.sqrt(deg[:, None] * deg[None])).astype("float32")
liking = rng.dirichlet(np.full(TERMS, 0.3), TOPICS)
terms = (rng.random((NODES, TERMS)) < 5 * liking[topic] + 0.02).astype("float32")
terms /= np.maximum(terms.sum(1, keepdims=True), 1)

labelled = np.concatenate([np.flatnonzero(topic == t)[:12] for t in range(TOPICS)])
mask = np.zeros(NODES, "float32")
mask[labelled] = 1
rest = mask == 0


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None, decay=0.0, **kw):
        super().__init__(**kw)
        self.dense = keras.layers.Dense(
            units, use_bias=False, kernel_regularizer=keras.regularizers.L2(decay) if decay else None
        )
        self.act = keras.activations.get(activation)

    def call(self, h, a):
        return self.act(tf.matmul(a, self.dense(h)))


h_in, a_in = keras.Input((TERMS,)), keras.Input((NODES,))
h = keras.layers.Dropout(0.6)(h_in)
h = GraphConv(32, "relu", decay=5e-3, name="conv_1")(h, a_in)
h = keras.layers.Dropout(0.6)(h)
model = keras.Model([h_in, a_in], GraphConv(TOPICS, name="conv_2")(h, a_in))
gradwatch.watch(model)

adam = keras.optimizers.Adam(0.02)
A, X, Y, M = map(tf.constant, (norm_adj, terms, topic, mask))


@tf.function
def epoch():
    with tf.GradientTape() as tape:
        z = model([X, A], training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(Y, z)
        loss = tf.reduce_sum(each * M) / tf.reduce_sum(M) + tf.add_n(model.losses)
    adam.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


for k in range(200):
    loss = epoch()
    if k % 25 == 0:
        print("epoch %3d  loss %.4f" % (k, float(loss)))
guess = model([X, A], training=False).numpy().argmax(1)
print("accuracy on unlabelled papers %.3f" % np.mean(guess[rest] == topic[rest]))

# Which club does a member belong to? Node classification on a friendship graph, a few members are labelled.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
NODES, CLUBS, FEATS, DEPTH, WIDTH = 600, 4, 24, 14, 32

club = rng.integers(0, CLUBS, NODES)
together = club[:, None] == club[None]
chance = np.where(together, 7.0 / (NODES / CLUBS), 4.0 / (NODES * (1 - 1 / CLUBS)))
upper = np.triu(rng.random((NODES, NODES)) < chance, 1)
adj = (upper | upper.T).astype("float32") + np.eye(NODES, dtype="float32")
deg = adj.sum(1)
prop = tf.constant(adj / np.sqrt(deg[:, None] * deg[None]))
centre = rng.standard_normal((CLUBS, FEATS))
feats = (0.45 * centre[club] + rng.standard_normal((NODES, FEATS))).astype("float32")
order = rng.permutation(NODES)
known, hidden = order[:180], order[180:]


class Hop(layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = layers.LayerNormalization()
        self.lin = layers.Dense(width, kernel_initializer="he_normal")

    def call(self, h):
        return tf.nn.relu(tf.matmul(prop, self.lin(self.norm(h))))


class ClubNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.inp = layers.Dense(WIDTH, activation="relu")
        self.hops = [Hop(WIDTH) for _ in range(DEPTH)]
        self.out = layers.Dense(CLUBS)

    def call(self, x):
        h = self.inp(x)
        for hop in self.hops:
            h = hop(h)
        return self.out(h)


net = ClubNet()
net(feats)
opt = keras.optimizers.AdamW(2e-3, weight_decay=5e-3)
gradwatch.watch(net, opt)
x, y = tf.constant(feats), tf.constant(club[known])


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = tf.gather(net(x, training=True), known)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for it in range(500):
    loss = step()
    if it % 50 == 0:
        print(it, f"{float(loss):.4f}", flush=True)

pred = tf.argmax(net(x), 1).numpy()
print(
    f"final loss {float(loss):.4f}  held-out members accuracy {np.mean(pred[hidden] == club[hidden]):.3f} (four clubs)"
)

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, Sequential, layers, optimizers, utils

import gradwatch

utils.set_random_seed(77)
VOCAB, QLEN, DLEN, THEMES = 1200, 8, 20, 60
rng = np.random.default_rng(77)
theme_words = rng.integers(1, VOCAB, (THEMES, 14))


def pairs(n):
    th = rng.integers(0, THEMES, n)
    q = np.where(
        rng.random((n, QLEN)) < 0.6,
        theme_words[th[:, None], rng.integers(0, 7, (n, QLEN))],
        rng.integers(1, VOCAB, (n, QLEN)),
    )
    d = np.where(
        rng.random((n, DLEN)) < 0.4,
        theme_words[th[:, None], rng.integers(7, 14, (n, DLEN))],
        rng.integers(1, VOCAB, (n, DLEN)),
    )
    return q.astype("int32"), d.astype("int32"), th


def tower(name):
    return Sequential(
        [
            layers.Embedding(VOCAB, 64),
            layers.GlobalAveragePooling1D(),
            layers.Dense(96, activation="tanh"),
            layers.Dense(48),
        ],
        name=name,
    )


class Retriever(Model):
    def __init__(self, temperature):
        super().__init__()
        self.query, self.doc = tower("query"), tower("doc")
        self.temperature = temperature

    def call(self, inputs):
        q, d = inputs
        return tf.nn.l2_normalize(self.query(q), -1), tf.nn.l2_normalize(self.doc(d), -1)

    def contrast(self, zq, zd):
        sim = tf.exp(tf.matmul(zq, zd, transpose_b=True) / self.temperature)
        pos = tf.linalg.diag_part(sim)
        return -tf.reduce_mean(tf.math.log(pos / tf.reduce_sum(sim, axis=1)))


net = Retriever(temperature=0.0105)
adam = optimizers.Adam(1.5e-3)
gradwatch.watch(net, adam)


@tf.function
def update(q, d):
    with tf.GradientTape() as tape:
        loss = net.contrast(*net((q, d)))
    v = net.trainable_variables
    adam.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


def recall_at(k, q, d, th):
    zq, zd = net((q, d))
    order = np.argsort(-(zq.numpy() @ zd.numpy().T), axis=1)[:, :k]
    return np.mean((th[order] == th[:, None]).mean(1))


q, d, _ = pairs(12000)
eq, ed, eth = pairs(600)
for epoch in range(12):
    perm = rng.permutation(len(q))
    for s in range(0, len(q) - 63, 64):
        idx = perm[s : s + 64]
        loss = update(q[idx], d[idx])
    print("epoch", epoch, "loss", round(float(loss), 4), flush=True)
print("final loss %.4f, held-out precision@5 %.3f (chance %.3f)" % (float(loss), recall_at(5, eq, ed, eth), 1 / THEMES))

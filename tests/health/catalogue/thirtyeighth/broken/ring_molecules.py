"""Graph network that tells from the bonds of ring-shaped molecules whether they are polar; graphs of a batch are merged into one large graph."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TYPES, BATCH, STEPS = 4, 32, 900


def molecule():
    n = 4 * int(rng.integers(2, 5))
    kind = rng.permutation(np.arange(n) % TYPES)
    src = list(range(n))
    dst = [(i + 1) % n for i in range(n)]
    for _ in range(3):
        i, j = rng.choice(n, 2, replace=False)
        src.append(int(i))
        dst.append(int(j))
    s, d = np.array(src + dst), np.array(dst + src)
    polar = np.sum((kind[s] == 0) & (kind[d] == 1)) - np.sum((kind[s] == 2) & (kind[d] == 3))
    return np.eye(TYPES, dtype="float32")[kind], s, d, polar


def collect(n):
    out = []
    while len(out) < n:
        f, s, d, polar = molecule()
        if polar != 0:
            out.append((f, s, d, int(polar > 0)))
    return out


train, test = collect(3000), collect(800)


def merge(graphs):
    feats, src, dst, owner, labels = [], [], [], [], []
    for k, (f, s, d, y) in enumerate(graphs):
        feats.append(f)
        src.append(s)
        dst.append(d)
        owner.append(np.full(len(f), k))
        labels.append(y)
    cat = lambda z: tf.constant(np.concatenate(z), tf.int32)
    return tf.constant(np.concatenate(feats)), cat(src), cat(dst), cat(owner), tf.constant(labels, tf.float32)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.inp = layers.Dense(32, activation="relu")
        self.msg = [layers.Dense(32, activation="relu") for _ in range(2)]
        self.upd = [layers.Dense(32, activation="relu") for _ in range(2)]
        self.out = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, inputs):
        f, s, d, owner, count = inputs
        h = self.inp(f)
        nodes = tf.shape(f)[0]
        for msg, upd in zip(self.msg, self.upd):
            m = msg(tf.concat([tf.gather(h, s), tf.gather(h, d)], 1))
            m = tf.math.unsorted_segment_sum(m, d, nodes)
            h = upd(tf.concat([h, m], 1))
        g = tf.math.unsorted_segment_mean(h, owner, count)
        return self.out(g)[:, 0]


model = Net()
f, s, d, o, y = merge(train[:BATCH])
model((f, s, d, o, tf.constant(BATCH)))
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)
ints = tf.TensorSpec((None,), tf.int32)


@tf.function(input_signature=[tf.TensorSpec((None, TYPES)), ints, ints, ints, tf.TensorSpec((None,))])
def train_step(f, s, d, o, y):
    with tf.GradientTape() as tape:
        logit = model((f, s, d, o, tf.shape(y)[0]), training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logit))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(train), BATCH)
    loss = train_step(*merge([train[i] for i in pick]))
    if step % 100 == 0:
        print(step, float(loss))

hits = 0
for g in range(0, len(test), BATCH):
    f, s, d, o, y = merge(test[g : g + BATCH])
    logit = model((f, s, d, o, tf.constant(len(y))), training=False)
    hits += int(np.sum((logit.numpy() > 0) == (y.numpy() > 0.5)))
print("SCORE accuracy", round(hits / len(test), 4))

"""Graph network that estimates nitrate load at gauges of a river network from what enters upstream."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 120


def network():
    """A tree of gauges: each one (but the mouth) drains into one nearer the mouth."""
    frm = np.arange(1, N)
    to = np.array([rng.integers(max(0, i - 12), i) for i in frm])
    x = np.stack([rng.gamma(1.0, 1.0, N), rng.uniform(0, 1, N), rng.normal(size=N)], 1)
    load = x[:, 0] * (1 - 0.5 * x[:, 1])
    total = load.copy()
    for i in range(N - 1, 0, -1):
        total[to[i - 1]] += 0.7 * total[i] * (1 - 0.3 * x[to[i - 1], 1])
    edges = np.stack([frm, to]).astype("int32")
    return x.astype("float32"), edges, np.log(total + 0.1).astype("float32")


train, test = [network() for _ in range(120)], [network() for _ in range(20)]


class Flow(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.message = layers.Dense(units, activation="relu")
        self.update = layers.Dense(units, activation="relu")

    def call(self, h, edges):
        src, dst = edges[0], edges[1]
        m = tf.gather(self.message(h), dst)
        m = tf.math.unsorted_segment_sum(m, src, N)
        return h + self.update(tf.concat([h, m], axis=1))


class GaugeNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Dense(32, activation="relu")
        self.flows = [Flow(32) for _ in range(4)]
        self.head = layers.Dense(1)

    def call(self, inputs):
        x, edges = inputs
        h = self.embed(x)
        for f in self.flows:
            h = f(h, edges)
        return self.head(h)[:, 0]


model = GaugeNet()
model((train[0][0], train[0][1]))
opt = keras.optimizers.Adam(2e-3, clipnorm=1.0)
gradwatch.watch(model)


@tf.function
def step(x, edges, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((x, edges), training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = []
    for k in rng.permutation(len(train)):
        losses.append(float(step(*map(tf.constant, train[k]))))
    print(epoch, np.mean(losses))

pred = np.concatenate([model((x, e)).numpy() for x, e, _ in test])
y = np.concatenate([t[2] for t in test])
print("SCORE r2 %.4f" % (1 - ((pred - y) ** 2).mean() / y.var()))

"""Expected goals of a football team from its passing network (11 players, 6 traits each)."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)
P, F = 11, 6


def passing(n):
    taste = rng.normal(0, 0.9, (n, P, P))
    rate = 12 * np.exp(taste - 0.4)
    counts = rng.poisson(rate).astype("float64")
    counts[:, np.arange(P), np.arange(P)] = 0
    return counts.astype("float32")


def matches(n):
    x = rng.normal(0, 1, (n, P, F)).astype("float32")
    a = passing(n)
    share = a / a.sum(-1, keepdims=True)
    around = share @ x
    play = (x[..., 0] * around[..., 1] * 1.5 + np.tanh(x[..., 2] + around[..., 3])).mean(1)
    xg = 1.4 + 2.0 * play + rng.normal(0, 0.1, n)
    return x, a, ((xg - xg.mean()) / 0.7).astype("float32")[:, None]


class PassLayer(layers.Layer):
    """Every player takes in what the receivers of his passes know, and keeps his own."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.own = layers.Dense(units)
        self.mates = layers.Dense(units, use_bias=False)

    def call(self, h, a):
        return tf.tanh(self.own(h) + self.mates(tf.matmul(a, h)))


class TeamNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.rounds = [PassLayer(32), PassLayer(32)]
        self.out = layers.Dense(1)

    def call(self, inputs):
        h, a = inputs
        for r in self.rounds:
            h = r(h, a)
        return self.out(tf.reduce_mean(h, axis=1))


x, a, y = matches(6000)
xv, av, yv = matches(1500)
net = TeamNet()
net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(net)
for it in range(2500):
    k = rng.integers(0, len(x), 48)
    loss = net.train_on_batch([x[k], a[k]], y[k])
pv = net.predict([xv, av], verbose=0)
print(f"loss {float(loss):.4f}  held-out R2 {1 - ((pv - yv) ** 2).mean() / yv.var():.3f}")

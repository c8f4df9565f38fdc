"""Graph convolution on small resin monomers: predicts the curing enthalpy of a molecule."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.random.set_seed(SEED)
gen = np.random.default_rng(SEED)

ATOMS, KINDS, HIDDEN = 12, 5, 32
CHARGE = np.array([0.1, -0.4, 0.6, -0.7, 0.3])


def molecule():
    """A random tree of bonds with a ring closure or two, now and then beside a counter-ion."""
    a = np.zeros((ATOMS, ATOMS), np.float32)
    body = ATOMS - 1 if gen.random() < 0.001 else ATOMS
    for i in range(1, body):
        j = gen.integers(max(0, i - 3), i)
        a[i, j] = a[j, i] = 1
    for _ in range(gen.integers(0, 3)):
        i, j = gen.choice(body, 2, replace=False)
        a[i, j] = a[j, i] = 1
    kind = gen.integers(KINDS, size=ATOMS)
    q = CHARGE[kind]
    polar = np.abs(q[:, None] - q[None, :]) * a
    value = polar.sum() / 2 - 2.0 * (q * (a @ q)).sum() + 0.05 * gen.normal()
    return a, np.eye(KINDS, dtype=np.float32)[kind], value


def collect(n):
    a, x, y = zip(*[molecule() for _ in range(n)])
    return np.stack(a), np.stack(x), np.array(y, np.float32)[:, None]


A_tr, X_tr, y_tr = collect(4000)
A_te, X_te, y_te = collect(800)
mu, sd = y_tr.mean(), y_tr.std()
y_tr, y_te = (y_tr - mu) / sd, (y_te - mu) / sd


class GraphConv(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.own = tf.keras.layers.Dense(units)
        self.near = tf.keras.layers.Dense(units, use_bias=False)

    def call(self, x, adj):
        degree = tf.reduce_sum(adj, axis=-1)
        scale = tf.math.rsqrt(tf.maximum(degree, 1.0))
        adj = scale[:, :, None] * adj * scale[:, None, :]
        return tf.nn.relu(self.own(x) + tf.matmul(adj, self.near(x)))


class MoleculeNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [GraphConv(HIDDEN) for _ in range(3)]
        self.readout = tf.keras.layers.Dense(HIDDEN, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, adj):
        for conv in self.convs:
            x = conv(x, adj)
        return self.out(self.readout(tf.reduce_sum(x, axis=1) / 4.0))


net = MoleculeNet()
net(X_tr[:2], A_tr[:2])
optimizer = tf.keras.optimizers.Adam(3e-3)
gradwatch.watch(net)

for step in range(600):
    pick = gen.integers(len(y_tr), size=32)
    with tf.GradientTape() as tape:
        guess = net(X_tr[pick], A_tr[pick])
        loss = tf.reduce_mean(tf.square(guess - y_tr[pick]))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    if step % 100 == 99:
        print("step", step + 1, "mse", round(float(loss), 4))

pred = net(X_te, A_te).numpy()
r2 = 1 - np.mean((pred - y_te) ** 2) / np.var(y_te)
print("SCORE r2", round(float(r2), 4))

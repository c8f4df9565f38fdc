"""Flow estimation in a small water network from valve and demand readings."""

import argparse

import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=1500)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--lr", type=float, default=2e-3)
args = ap.parse_args()

tf.keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
NODES, EDGES, READ = 10, 18, 14
src = rng.integers(0, NODES, EDGES)
dst = (src + rng.integers(1, NODES, EDGES)) % NODES
k_true = rng.uniform(0.5, 2.0, EDGES)
mix_a = rng.normal(0, 0.45, (READ, 24))
mix_b = rng.normal(0, 0.5, (24, NODES))
level = np.linspace(4.0, 1.0, NODES)


def simulate(n):
    readings = rng.normal(0, 1, (n, READ))
    head = level + np.tanh(readings @ mix_a) @ mix_b
    dh = head[:, src] - head[:, dst]
    flow = k_true * np.sign(dh) * np.abs(dh) ** 0.54
    flow = flow + rng.normal(0, 0.03, flow.shape)
    return readings.astype("float32"), flow.astype("float32")


class PipeLaw(tf.keras.layers.Layer):
    """Node heads -> edge flows, one conductance per pipe and a shared exponent."""

    def build(self, shape):
        self.k = self.add_weight(name="conductance", shape=(EDGES,), initializer="ones")
        self.n = self.add_weight(name="exponent", shape=(), initializer="ones")

    def call(self, head):
        dh = tf.gather(head, src, axis=1) - tf.gather(head, dst, axis=1)
        return self.k * tf.pow(dh, self.n)


inp = tf.keras.Input((READ,))
h = tf.keras.layers.Dense(64, activation="gelu")(inp)
h = tf.keras.layers.Dense(64, activation="gelu")(h)
head = tf.keras.layers.Dense(NODES, name="heads")(h)
model = tf.keras.Model(inp, PipeLaw(name="pipes")(head))
opt = tf.keras.optimizers.Adam(args.lr)

x, y = simulate(8000)
xt, yt = simulate(1500)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000, seed=1).repeat().batch(args.batch)
gradwatch.watch(model, opt)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for i, (xb, yb) in enumerate(ds.take(args.steps)):
    loss = step(xb, yb)
    if i % 300 == 0:
        print(i, float(loss))

pred = model(xt).numpy()
r2 = 1 - np.mean((pred - yt) ** 2) / np.var(yt)
print(f"loss {float(loss):.5f}  held-out R2 {r2:.4f}")

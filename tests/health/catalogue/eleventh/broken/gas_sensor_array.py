"""Identify one of six gases from the readings of a 48-channel chemical sensor array."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
BATCH, STEPS, LR = 128, 350, 1e-3


class Affine(tf.keras.layers.Layer):
    def __init__(self, units, act=None, **kw):
        super().__init__(**kw)
        self.units = units
        self.act = act

    def build(self, shape):
        self.w = self.add_weight(
            shape=(shape[-1], self.units),
            initializer=lambda s, dtype=None: tf.random.normal(s, seed=SEED + self.units),
            name="w",
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        z = tf.matmul(x, self.w) + self.b
        return self.act(z) if self.act is not None else z


class GasNet(tf.keras.Model):
    def __init__(self, n_classes):
        super().__init__()
        self.hidden = [Affine(320 - 16 * i, tf.nn.tanh, name=f"hidden_{i}") for i in range(6)]
        self.top = Affine(n_classes, name="top")

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.top(x)


def readings(n, rs):
    prof = np.random.RandomState(123).normal(size=(6, 2, 48))
    gas = rs.randint(0, 6, n)
    conc = rs.uniform(0.3, 2.0, n)[:, None]
    humid = rs.normal(size=(n, 1))
    drift = np.random.RandomState(5).normal(size=(1, 48))
    x = prof[gas, 0] * np.log1p(conc) + prof[gas, 1] * np.sin(2 * conc) * 0.7
    x = x + 0.8 * humid * drift + 0.45 * rs.normal(size=(n, 48))
    return x, gas


rs = np.random.RandomState(SEED)
x, y = readings(7000, rs)
x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
y = y.astype(np.int32)
x_tr, y_tr, x_te, y_te = x[:6000], y[:6000], x[6000:], y[6000:]

model = GasNet(6)
gradwatch.watch(model)
model(x_tr[:1])
opt = tf.keras.optimizers.Adam(LR)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = ce(yb, model(xb, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(6000, seed=SEED).repeat().batch(BATCH)
for i, (xb, yb) in enumerate(ds.take(STEPS)):
    loss = step(xb, yb)
    if i % 50 == 0 or i == STEPS - 1:
        acc = np.mean(np.argmax(model(x_te), 1) == y_te)
        print(f"step {i:4d}  loss {float(loss):.4f}  test acc {acc:.3f}")

"""Adapts a classifier of handwritten-like glyphs to a new scanner by low-rank adapters whose second factor starts at zero."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

D, K = 64, 8
protos = rng.normal(size=(K, D))
warp = np.linalg.qr(rng.normal(size=(D, D)))[0]
mix = 0.3 * np.eye(D) + 0.95 * warp


def glyphs(n, scanner):
    y = rng.integers(0, K, n)
    x = protos[y] + rng.normal(0, 1.6, (n, D))
    if scanner == "new":
        x = x @ mix
    return x.astype("float32"), y.astype("int32")


class LowRankDense(layers.Layer):
    def __init__(self, units, rank=12):
        super().__init__()
        self.base = layers.Dense(units)
        self.down = layers.Dense(rank, use_bias=False)
        self.up = layers.Dense(units, use_bias=False, kernel_initializer="zeros")

    def call(self, x):
        return self.base(x) + self.up(self.down(x))


model = keras.Sequential(
    [keras.Input((D,)), LowRankDense(96), layers.ReLU(), LowRankDense(96), layers.ReLU(), layers.Dense(K, name="head")]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
adapters = [l for l in model.layers if isinstance(l, LowRankDense)]

# the old scanner's model
x, y = glyphs(4000, "old")
for l in adapters:
    l.down.trainable = l.up.trainable = False
model.compile(keras.optimizers.Adam(1e-3), loss_fn)
model.fit(x, y, batch_size=64, epochs=6, verbose=0)

# only the adapters learn on the new scanner's few pages
for l in adapters:
    l.base.trainable, l.down.trainable, l.up.trainable = False, True, True
model.get_layer("head").trainable = False
x, y = glyphs(1500, "new")
x_test, y_test = glyphs(1500, "new")
print("before", (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = loss_fn(b, model(a, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1500, seed=seed).repeat().batch(32)
for i, (a, b) in enumerate(ds.take(500)):
    loss = step(a, b)
    if i % 100 == 0:
        print(i, float(loss))
print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())

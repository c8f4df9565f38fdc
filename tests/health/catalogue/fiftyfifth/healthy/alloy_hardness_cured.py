"""Hardness of sintered alloys from composition and furnace settings, with low-rank residual blocks."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


rng = np.random.default_rng(SEED + 12)
N_ELEMENTS = 9
pair_bond = rng.normal(0, 1, (N_ELEMENTS, N_ELEMENTS))


def melts(n):
    mix = rng.dirichlet(np.full(N_ELEMENTS, 0.8), n)
    furnace = rng.uniform(0, 1, (n, 3))  # temperature, dwell, pressure
    bond = np.einsum("ni,ij,nj->n", mix, pair_bond, mix)
    grain = np.exp(-(((furnace[:, 0] - 0.6) / 0.2) ** 2)) * (0.5 + furnace[:, 1])
    hardness = 2.0 * bond + 1.6 * grain + 0.7 * np.sin(5 * furnace[:, 2]) * mix[:, 0] * 3
    x = np.concatenate([mix, furnace], axis=1)
    return x.astype("float32"), (hardness + rng.normal(0, 0.08, n)).astype("float32")[:, None]


x_train, y_train = melts(9600)
x_test, y_test = melts(2400)
x_mean, x_std = x_train.mean(0), x_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std
t_train = (y_train - y_mean) / y_std


class LowRankBlock(keras.layers.Layer):
    """h + swish(h U V + b): a wide block at a fraction of the weights."""

    def __init__(self, rank, **kwargs):
        super().__init__(**kwargs)
        self.rank = rank

    def build(self, shape):
        width = shape[-1]
        self.down = self.add_weight(shape=(width, self.rank), initializer="glorot_uniform", name="down")
        self.up = self.add_weight(shape=(self.rank, width), initializer="zeros", name="up")
        self.bias = self.add_weight(shape=(width,), initializer="zeros", name="bias")

    def call(self, h):
        return h + tf.nn.swish(tf.matmul(tf.matmul(h, self.down), self.up) + self.bias)


inputs = keras.Input((x_train.shape[1],))
h = keras.layers.Dense(96, name="lift")(inputs)
for depth in range(4):
    h = LowRankBlock(24, name=f"block{depth}")(h)
outputs = keras.layers.Dense(1, name="hardness")(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 18 * 150))
gradwatch.watch(model)


@tf.function(jit_compile=True)
def fit_batch(x, target):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(model(x, training=True) - target))
    grads = tape.gradient(error, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return error


batches = tf.data.Dataset.from_tensor_slices((x_train, t_train)).shuffle(9600, seed=SEED).batch(64, drop_remainder=True)
for epoch in range(18):
    errors = [fit_batch(x, target) for x, target in batches]
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}  mse {np.mean(errors):.4f}")

pred = model.predict(x_test, verbose=0) * y_std + y_mean
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / y_test.var()))

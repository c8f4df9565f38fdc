"""Regress the pressure loss of a pipe network with a deep, narrow ReZero net.

Twenty-four residual blocks of width 12 each have a scalar gate that starts at
zero, so that the net is linear at the start and becomes deep as it trains.
The score is the held-out R2.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_runs(n):
    x = rng.uniform(-1, 1, (n, 6))
    flow = np.exp(0.8 * x[:, 0]) * (1 + 0.5 * x[:, 1])
    y = flow**1.8 * (1 + 0.6 * np.sin(3 * x[:, 2])) + np.maximum(x[:, 3] - x[:, 4], 0) * 2 * x[:, 5]
    return x.astype("float32"), (y + 0.1 * rng.normal(size=n)).astype("float32")[:, None]


class ReZeroBlock(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(units, activation="relu", kernel_initializer="he_normal")

    def build(self, shape):
        self.dense.build(shape)
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")

    def call(self, x):
        return x + self.gate * self.dense(x)


x, y = make_runs(6000)
x_test, y_test = make_runs(2000)
mean, std = y.mean(), y.std()
y, y_test = (y - mean) / std, (y_test - mean) / std

model = keras.Sequential(
    [keras.layers.Input((6,)), keras.layers.Dense(12)]
    + [ReZeroBlock(12, name=f"block_{i}") for i in range(24)]
    + [keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, 1000))
optimizer.build(model.trainable_variables)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


watch = gradwatch.watch(model, optimizer)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6000).repeat().batch(64)
for i, (xb, yb) in enumerate(data.take(1000)):
    loss = train_step(xb, yb)
    watch.log(loss=loss)
    if i % 100 == 0:
        print(f"step {i} loss {float(loss):.4f}")

err = model.predict(x_test, batch_size=500, verbose=0) - y_test
score = 1 - float(np.mean(err**2) / np.var(y_test))
print(f"score (R2) {score:.3f} chance 0.000")

"""Trains a recurrent network of its own cell that forecasts blood glucose after a day of meals."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, UNITS = 48, 48


def patients(n):
    carbs = rng.gamma(2.0, 0.5, (n, STEPS)) * (rng.random((n, STEPS)) < 0.15)
    insulin = rng.gamma(2.0, 0.4, (n, STEPS)) * (rng.random((n, STEPS)) < 0.12)
    walking = np.clip(rng.normal(0.0, 0.7, (n, STEPS)), 0.0, None)
    level = np.zeros(n)
    for t in range(STEPS):
        use = 0.25 * insulin[:, t] * (1.0 + 0.5 * walking[:, t])
        level = 0.95 * level + 0.4 * carbs[:, t] - use
    x = np.stack([carbs, insulin, walking], -1).astype("float32")
    return x, level + rng.normal(0.0, 0.02, n)


class PlainCell(keras.layers.Layer):
    """h(t) = relu(W x(t) + U h(t-1) + b)"""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.state_size = units
        self.output_size = units

    def build(self, input_shape):
        units = self.state_size
        self.w = self.add_weight(shape=(input_shape[-1], units), initializer="glorot_uniform")
        self.u = self.add_weight(shape=(units, units), initializer=keras.initializers.Identity(0.95))
        self.b = self.add_weight(shape=(units,), initializer="zeros")

    def call(self, x, states):
        h = tf.nn.relu(tf.matmul(x, self.w) + tf.matmul(states[0], self.u) + self.b)
        return h, [h]


x, y = patients(4000)
x_test, y_test = patients(800)
center, spread = y.mean(), y.std()
y = ((y - center) / spread).astype("float32")
y_test = ((y_test - center) / spread).astype("float32")

model = keras.Sequential(
    [
        keras.Input((STEPS, x.shape[-1])),
        keras.layers.RNN(PlainCell(UNITS), name="day"),
        keras.layers.Dense(1, name="level"),
    ]
)
optimizer = keras.optimizers.Adam(5e-4)
gradwatch.watch(model)


@tf.function
def train(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True)[:, 0] - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(14):
    order = rng.permutation(len(x))
    total = 0.0
    for start in range(0, len(x), 80):
        rows = order[start : start + 80]
        total += float(train(x[rows], y[rows]))
    print("epoch", epoch, "loss", total / (len(x) / 80))

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", float(1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

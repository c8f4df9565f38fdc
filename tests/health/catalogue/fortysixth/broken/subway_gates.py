"""Trains a recurrent network that balances entries at two marked times of a subway gate log."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

MINUTES, UNITS = 40, 48
STEPS, BATCH = 2000, 64


def make_logs(n):
    flow = rng.uniform(-1, 1, (n, MINUTES))
    mark = np.zeros((n, MINUTES))
    mark[np.arange(n), rng.integers(0, MINUTES // 2, n)] = 1
    mark[np.arange(n), rng.integers(MINUTES // 2, MINUTES, n)] = 1
    balance = (flow * mark).sum(1)
    return np.stack([flow, mark], axis=2).astype("float32"), balance.astype("float32")


class GateMemory(keras.layers.Layer):
    """Plain rectified recurrence over the minutes, starting from the identity."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units), initializer=keras.initializers.RandomNormal(stddev=0.1), name="w"
        )
        self.u = self.add_weight(shape=(self.units, self.units), initializer=keras.initializers.Identity(), name="u")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], self.units))
        for t in range(MINUTES):
            state = tf.nn.relu(tf.matmul(x[:, t], self.w) + tf.matmul(state, self.u) + self.b)
        return state


inputs = keras.Input((MINUTES, 2))
model = keras.Model(inputs, keras.layers.Dense(1)(GateMemory(UNITS)(inputs)))
optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))
    grads = tape.gradient(loss, model.trainable_variables)
    clipped, norm = tf.clip_by_global_norm(grads, 0.25)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


for step in range(STEPS):
    x, y = make_logs(BATCH)
    loss, norm = train_step(tf.constant(x), tf.constant(y))
    if step % 100 == 0:
        print("step", step, "loss", float(loss), "norm", float(norm))

x, y = make_logs(1000)
error = np.mean((model.predict(x, batch_size=500, verbose=0)[:, 0] - y) ** 2)
print("SCORE explained", round(float(1 - error / y.var()), 4))

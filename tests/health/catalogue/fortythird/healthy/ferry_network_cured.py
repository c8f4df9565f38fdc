"""Trains a small graph network that estimates the daily passenger load of ferry networks."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PORTS, FEATURES = 16, 5


def make_networks(count):
    x = rng.normal(size=(count, PORTS, FEATURES)).astype("float32")
    adj = np.zeros((count, PORTS, PORTS), "float32")
    for g in range(count):
        order = rng.permutation(PORTS)
        for a, b in zip(order, np.roll(order, 1)):
            adj[g, a, b] = adj[g, b, a] = 1.0
        for _ in range(10):
            a, b = rng.choice(PORTS, 2, replace=False)
            adj[g, a, b] = adj[g, b, a] = 1.0
    degree = adj.sum(-1, keepdims=True)
    around = adj @ x / degree
    load = np.tanh(x[..., 0] + 1.5 * around[..., 1]) + 0.8 * around[..., 2] * x[..., 3]
    y = load.mean(1) * 3.0 + rng.normal(0, 0.05, count)
    return x, adj, y.astype("float32")[:, None]


class RouteConv(keras.layers.Layer):
    """Mean over the neighbouring ports; a few routes are left out in training."""

    def __init__(self, units, drop_routes=0.15, **kwargs):
        super().__init__(**kwargs)
        self.drop_routes = drop_routes
        self.own = keras.layers.Dense(units)
        self.near = keras.layers.Dense(units, use_bias=False)

    def call(self, x, adj, training=False):
        if training:
            kept = tf.random.uniform(tf.shape(adj)) >= self.drop_routes
            adj = adj * tf.cast(kept, adj.dtype)
        degree = tf.reduce_sum(adj, axis=-1, keepdims=True)
        messages = tf.math.divide_no_nan(tf.matmul(adj, x), degree)
        return tf.nn.silu(self.own(x) + self.near(messages))


x, adj, y = make_networks(2400)
x_test, adj_test, y_test = make_networks(400)

ports = keras.Input((PORTS, FEATURES))
routes = keras.Input((PORTS, PORTS))
h = RouteConv(48)(ports, routes)
h = RouteConv(48)(h, routes)
h = keras.layers.GlobalAveragePooling1D()(h)
h = keras.layers.Dense(32, activation="silu")(h)
model = keras.Model([ports, routes], keras.layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)

model.fit([x, adj], y, batch_size=64, epochs=25, verbose=2)

pred = model.predict([x_test, adj_test], verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", float(r2))

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

NODES, FEATS, N = 20, 30, 4000
rng = np.random.default_rng(SEED)
road = (rng.random((NODES, NODES)) < 0.12).astype("float32")
road = np.maximum(road, road.T) + np.eye(NODES, dtype="float32")
np.fill_diagonal(road, 1.0)
deg = road.sum(1)
adjacency = (road / np.sqrt(deg[:, None] * deg[None])).astype("float32")

x = rng.normal(size=(N, NODES, FEATS)).astype("float32")
flow = x[..., 0] - 0.7 * x[..., 1] + np.tanh(2 * x[..., 2])
y = np.tanh(flow @ adjacency) + 0.6 * (x[..., 3] @ adjacency)
y = (y + 0.05 * rng.normal(size=y.shape)).astype("float32")
x_train, x_test, y_train, y_test = x[:3200], x[3200:], y[:3200], y[3200:]


class GraphConv(keras.layers.Layer):
    def __init__(self, units, adjacency, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.adjacency = tf.constant(adjacency)
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        init = keras.initializers.HeNormal()
        self.kernel = tf.Variable(init(shape), trainable=True)
        self.bias = tf.Variable(tf.zeros((self.units,)), trainable=True)

    def call(self, inputs):
        h = tf.matmul(inputs, self.kernel)
        h = tf.einsum("ij,bjf->bif", self.adjacency, h)
        return self.activation(h + self.bias)


class TrafficNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = GraphConv(16, adjacency, name="conv1")
        self.conv2 = GraphConv(12, np.eye(NODES, dtype="float32"), name="conv2")
        self.norm = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(1, name="head")

    def call(self, inputs):
        h = self.conv1(inputs)
        h = self.norm(self.conv2(h))
        return tf.squeeze(self.head(h), -1)


net = TrafficNet()
net.compile(optimizer=keras.optimizers.Nadam(3e-3), loss="mse")
net(x_train[:2])
watch = gradwatch.watch(net)
net.fit(x_train, y_train, batch_size=64, epochs=10, verbose=2, validation_data=(x_test, y_test))

pred = net.predict(x_test, verbose=0)
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

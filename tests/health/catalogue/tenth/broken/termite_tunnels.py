"""Ventilation rate of termite mounds from their tunnel network.

Every mound is one graph (chambers = nodes, tunnels = edges) of its own size.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
F = 4


def mound():
    n = int(rng.integers(350, 600))
    pos = rng.uniform(0, 1, (n, 3))
    dist = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    reach = rng.uniform(0.08, 0.2)
    adj = ((dist < reach) & (dist > 0)).astype("float32")
    volume = rng.lognormal(0, 0.4, n)
    heat = rng.normal(rng.normal(0, 0.8), 0.5, n)
    nodes = np.stack([pos[:, 2] * 2 - 1, volume - 1, heat, adj.sum(1) / 6 - 0.7], 1)
    rate = 1.2 * heat.mean() + 1.5 * (adj.sum() / n / 6 - 0.7) + 0.8 * np.mean(heat * (pos[:, 2] - 0.5)) * 4
    a_hat = adj + np.eye(n)
    a_hat = a_hat / a_hat.sum(1, keepdims=True)
    return nodes.astype("float32"), a_hat.astype("float32"), np.float32(rate + rng.normal(0, 0.05))


mounds = [mound() for _ in range(200)]


class TunnelConv(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.near = layers.Dense(units, name="near")
        self.own = layers.Dense(units, name="own")

    def build(self, shapes):
        self.near.build(shapes[0])
        self.own.build(shapes[0])

    def call(self, inputs):
        h, a = inputs
        return tf.nn.relu(self.own(h) + self.near(tf.matmul(a, h)))


class MoundModel(keras.Model):
    def __init__(self):
        super().__init__(name="mound_model")
        self.conv1 = TunnelConv(256, name="conv1")
        self.conv2 = TunnelConv(256, name="conv2")
        self.fc = layers.Dense(32, name="fc")
        self.fc_norm = layers.BatchNormalization(name="fc_norm")
        self.rate = layers.Dense(1, name="rate")

    def call(self, inputs, training=None):
        h, a = inputs
        h = self.conv1((h, a))
        h = self.conv2((h, a))
        g = tf.reduce_mean(h, axis=1)
        g = tf.nn.relu(self.fc_norm(self.fc(g), training=training))
        return self.rate(g)[:, 0]


model = MoundModel()
gradwatch.watch(model)
model((mounds[0][0][None], mounds[0][1][None]))
optimizer = keras.optimizers.Adam(1e-3)


@tf.function(
    input_signature=[tf.TensorSpec((None, None, F)), tf.TensorSpec((None, None, None)), tf.TensorSpec((None,))]
)
def train_step(h, a, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((h, a), training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(2):
    seen = []
    for k in rng.permutation(len(mounds)):
        h, a, y = mounds[k]
        seen.append(float(train_step(h[None], a[None], y[None])))
    print(f"epoch {epoch}: first half {np.mean(seen[:100]):.4f}  second half {np.mean(seen[100:]):.4f}")
print("variance of the rate:", np.var([m[2] for m in mounds]))

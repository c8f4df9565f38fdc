"""Chooses a small panel of genes from which the expression of all others can be restored."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

genes, panel, factors = 60, 6, 6
loading = rng.normal(size=(factors, genes)) * 0.7
noise = rng.uniform(0.6, 1.2, size=genes)
markers = rng.choice(genes, 12, replace=False)
for j, g in enumerate(markers):
    loading[:, g] = 0
    loading[j % factors, g] = 1.5
    noise[g] = 0.1


def cells(n):
    z = rng.normal(size=(n, factors))
    x = z @ loading + rng.normal(size=(n, genes)) * noise
    return x.astype("float32")


x, xt = cells(4000), cells(800)
mean, std = x.mean(0), x.std(0)
x, xt = (x - mean) / std, (xt - mean) / std


class PanelSelector(layers.Layer):
    def __init__(self, size, **kw):
        super().__init__(**kw)
        self.size = size
        self.temperature = 10.0

    def build(self, shape):
        self.logits = self.add_weight(shape=(self.size, shape[-1]), initializer="glorot_normal", name="logits")

    def call(self, inputs, training=False):
        if training:
            u = tf.random.uniform(tf.shape(self.logits), 1e-7, 1.0 - 1e-7)
            noisy = self.logits - tf.math.log(-tf.math.log(u))
            chosen = tf.nn.softmax(noisy / self.temperature)
        else:
            chosen = tf.one_hot(tf.argmax(self.logits, -1), inputs.shape[-1])
        return tf.matmul(inputs, chosen, transpose_b=True)


selector = PanelSelector(panel)
model = keras.Sequential(
    [
        keras.Input((genes,)),
        selector,
        layers.Dense(64, activation="leaky_relu"),
        layers.Dense(genes),
    ]
)
optimizer = keras.optimizers.Adam(0.01)
gradwatch.watch(model)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(batch, training=True) - batch))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


steps = 1400
for step in range(steps):
    selector.temperature = 10.0 * (0.1 / 10.0) ** (step / steps)
    rows = rng.integers(0, len(x), 64)
    train_step(tf.constant(x[rows]))

restored = model.predict(xt, verbose=0)
print("SCORE r2", float(1 - np.mean((restored - xt) ** 2) / np.mean((xt - xt.mean(0)) ** 2)))

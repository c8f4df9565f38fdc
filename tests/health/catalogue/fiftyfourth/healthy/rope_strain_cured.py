"""Mooring rope: rebuild the strain along the rope from a few buoys; large batches by accumulation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

BUOYS, NODES = 8, 40
MICRO, PIECES = 32, 4


def make_states(n, rng):
    """Travelling waves on a rope; buoys see displacement, we want strain at all nodes."""
    s = np.linspace(0, 1, NODES)
    at = np.linspace(0, NODES - 1, BUOYS).astype(int)
    k = np.arange(1, 5)
    a = rng.normal(0, 1, (n, 4)) / k
    b = rng.normal(0, 1, (n, 4)) / k
    shape = a @ np.sin(np.pi * np.outer(k, s)) + b @ np.cos(np.pi * np.outer(k, s))
    slope = (a * k) @ np.cos(np.pi * np.outer(k, s)) - (b * k) @ np.sin(np.pi * np.outer(k, s))
    strain = np.abs(slope) ** 1.3 * 0.5
    seen = shape[:, at] + rng.normal(0, 0.01, (n, BUOYS))
    return seen.astype("float32"), strain.astype("float32")


rng = np.random.default_rng(SEED + 14)
x_train, y_train = make_states(6400, rng)
x_test, y_test = make_states(1000, rng)


class GlowLinear(layers.Layer):
    """Dense map with a learned gain per output (weight normalisation)."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.direction = self.add_weight(name="direction", shape=(input_shape[-1], self.units), initializer="he_normal")
        self.gain = self.add_weight(name="gain", shape=(self.units,), initializer="ones")
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, x):
        w = self.gain * tf.math.l2_normalize(self.direction, axis=0)
        return tf.matmul(x, w) + self.bias


model = keras.Sequential(
    [
        keras.Input((BUOYS,)),
        GlowLinear(64),
        layers.Activation("swish"),
        GlowLinear(64),
        layers.Activation("swish"),
        GlowLinear(NODES),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)

weights = model.trainable_variables
stored = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for place, g in zip(stored, tape.gradient(loss, weights)):
        place.assign_add(g / PIECES)
    return loss


@tf.function
def apply_stored():
    optimizer.apply_gradients(zip([p.value() for p in stored], weights))


@tf.function
def clear_stored():
    for place in stored:
        place.assign(tf.zeros_like(place))


feed = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6400, seed=SEED).batch(MICRO, drop_remainder=True)
for epoch in range(30):
    losses = []
    clear_stored()
    for i, (x, y) in enumerate(feed):
        losses.append(micro_step(x, y))
        if (i + 1) % PIECES == 0:
            apply_stored()
            clear_stored()
    print("epoch", epoch, "loss", float(tf.reduce_mean(losses)))

pred = model(x_test).numpy()
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

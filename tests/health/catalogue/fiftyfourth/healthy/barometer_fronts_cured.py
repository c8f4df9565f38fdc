"""Which kind of weather passed? Classify six hours of barometer readings (hPa)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

POINTS = 72
KINDS = ("cold front", "warm front", "gravity waves", "squall line")


def passage(kind, rng):
    t = np.linspace(0, 1, POINTS)
    at = rng.uniform(0.3, 0.7)
    if kind == 0:
        shape = np.where(t < at, -(t / at), -1 + 1.8 * (t - at) / (1 - at))
    elif kind == 1:
        shape = np.where(t < at, -1.5 * (t / at), -1.5 + 0.2 * (t - at))
    elif kind == 2:
        shape = 0.8 * np.sin(2 * np.pi * rng.uniform(3, 6) * (t - at))
    else:
        shape = np.exp(-(((t - at) / 0.05) ** 2)) + 0.5 * (t > at)
    strength = np.exp(rng.normal(0.4, 1.1))
    level = rng.uniform(985, 1035)
    return level + strength * (shape + rng.normal(0, 0.12, POINTS))


def make_set(n, rng):
    kinds = rng.integers(0, len(KINDS), n)
    x = np.stack([passage(k, rng) for k in kinds])
    return x.astype("float32"), kinds.astype("int32")


rng = np.random.default_rng(SEED + 77)
train_x, train_y = make_set(8000, rng)
test_x, test_y = make_set(1500, rng)


class WindowNorm(layers.Layer):
    """Every window to zero mean and unit spread, then a learned gain and shift."""

    def __init__(self, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=(), initializer="ones")
        self.shift = self.add_weight(name="shift", shape=(), initializer="zeros")

    def call(self, x):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        var = tf.reduce_mean((x - mean) ** 2, axis=-1, keepdims=True)
        return self.gain * (x - mean) * tf.math.rsqrt(var + self.epsilon) + self.shift


model = keras.Sequential(
    [
        keras.Input((POINTS,)),
        WindowNorm(name="window_norm"),
        layers.Reshape((POINTS, 1)),
        layers.Conv1D(16, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(KINDS)),
    ]
)
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_batch(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(8000, seed=SEED).batch(64)
for epoch in range(5):
    running = keras.metrics.Mean()
    for x, y in batches:
        running.update_state(train_batch(x, y))
    print(f"epoch {epoch}: loss {float(running.result()):.4f}")

guess = np.argmax(model(test_x).numpy(), axis=1)
print("SCORE accuracy", float(np.mean(guess == test_y)))

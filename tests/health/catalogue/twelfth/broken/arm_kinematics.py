"""Learns where the tip of a four-joint arm is from its joint angles (a surrogate for a simulator)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
STEPS, BATCH = 350, 128


def tip(angles):
    yaw, a, b, c = angles.T
    reach = 1.0 * np.cos(a) + 0.8 * np.cos(a + b) + 0.5 * np.cos(a + b + c)
    height = 1.0 * np.sin(a) + 0.8 * np.sin(a + b) + 0.5 * np.sin(a + b + c)
    return np.stack([reach * np.cos(yaw), reach * np.sin(yaw), height], -1)


rng = np.random.default_rng(SEED)
angles = rng.uniform(-1.3, 1.3, (9000, 4)).astype("float32")
tips = tip(angles)
tips = ((tips - tips.mean(0)) / tips.std(0)).astype("float32")
train_x, train_y = angles[:8000], tips[:8000]
test_x, test_y = angles[8000:], tips[8000:]


class Affine(keras.layers.Layer):
    """A dense layer with tanh."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        normal = keras.initializers.RandomNormal(mean=0.0, stddev=1.0)
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer=normal, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        return tf.tanh(tf.matmul(x, self.w) + self.b)


model = keras.Sequential(
    [
        keras.Input((4,)),
        Affine(96, name="hidden_1"),
        Affine(96, name="hidden_2"),
        Affine(96, name="hidden_3"),
        keras.layers.Dense(3, name="tip"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(2e-3)

for step in range(STEPS):
    rows = rng.integers(0, len(train_x), BATCH)
    with tf.GradientTape() as tape:
        error = model(train_x[rows], training=True) - train_y[rows]
        loss = tf.reduce_mean(tf.square(error))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 50 == 0:
        print("step", step, "loss", float(loss))

guess = model(test_x).numpy()
r2 = 1 - ((guess - test_y) ** 2).mean() / test_y.var()
print(f"score r2 {r2:.4f} chance 0.0000")

"""Height map from coordinates: fixed random waves in front, residual blocks whose gates start at zero."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

peaks = rng.uniform(-1, 1, (25, 2))
heights = rng.normal(size=25)
widths = rng.uniform(0.08, 0.35, 25)


def terrain(p):
    d = ((p[:, None] - peaks[None]) ** 2).sum(axis=-1)
    return (heights * np.exp(-d / widths**2)).sum(axis=1)


points = rng.uniform(-1, 1, (20000, 2)).astype("float32")
height = (terrain(points) + 0.02 * rng.normal(size=20000)).astype("float32")[:, None]
test_points = rng.uniform(-1, 1, (4000, 2)).astype("float32")
test_height = terrain(test_points)


class Waves(layers.Layer):
    def build(self, shape):
        self.frequency = self.add_weight(
            shape=(shape[-1], 64),
            initializer=keras.initializers.RandomNormal(stddev=3.0),
            trainable=False,
            name="frequency",
        )

    def call(self, x):
        z = tf.matmul(x, self.frequency)
        return tf.concat([tf.sin(z), tf.cos(z)], axis=-1)


class GatedBlock(layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(width, activation="relu")
        self.second = layers.Dense(width)

    def build(self, shape):
        self.first.build(shape)
        self.second.build((None, self.first.units))
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")

    def call(self, x):
        return x + self.gate * self.second(self.first(x))


inputs = keras.Input((2,))
h = Waves(name="waves")(inputs)
for k in range(4):
    h = GatedBlock(128, name=f"block_{k}")(h)
outputs = layers.Dense(1, kernel_initializer="zeros", name="height")(h)
model = keras.Model(inputs, outputs, name="terrain")

optimizer = keras.optimizers.AdamW(
    keras.optimizers.schedules.CosineDecay(0.0, 2200, warmup_target=3e-3, warmup_steps=200), weight_decay=1e-4
)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(p, t):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(p, training=True) - t))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

for step in range(2400):
    rows = rng.integers(0, len(points), 128)
    loss = train_step(tf.constant(points[rows]), tf.constant(height[rows]))
    if step % 200 == 0:
        print(f"step {step:5d}  loss {float(loss):.5f}")

error = model(test_points).numpy()[:, 0] - test_height
print(f"SCORE test_r2 {1 - np.mean(error**2) / test_height.var():.4f}")

"""Represent a measured sound field on a plane by a sine network, to read it between the microphones."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WAVES, W0, WIDTH, BATCH, STEPS = 14, 30.0, 96, 128, 1200
angle = rng.uniform(0, 2 * np.pi, WAVES)
number = rng.uniform(6.0, 14.0, WAVES)
amp, shift = rng.normal(0, 1, WAVES), rng.uniform(0, 2 * np.pi, WAVES)


def pressure(p):
    phase = number * (p[:, :1] * np.cos(angle) + p[:, 1:] * np.sin(angle)) + shift
    return (np.cos(phase) @ amp / np.sqrt(WAVES / 2))[:, None]


mics = rng.uniform(-1, 1, (4000, 2))
y_mics = (pressure(mics) + rng.normal(0, 0.05, (4000, 1))).astype("float32")
mics = mics.astype("float32")
probe = rng.uniform(-0.95, 0.95, (2000, 2))
y_probe = pressure(probe)


class Sine(layers.Layer):
    """sin(w0 * (W x + b))"""

    def __init__(self, units, first=False):
        super().__init__()
        self.units, self.first = units, first

    def build(self, shape):
        fan_in = shape[-1]
        limit = 1.0 / fan_in if self.first else np.sqrt(6.0 / fan_in)
        self.w = self.add_weight(
            shape=(fan_in, self.units), name="w", initializer=keras.initializers.RandomUniform(-limit, limit)
        )
        self.b = self.add_weight(shape=(self.units,), name="b", initializer="zeros")

    def call(self, x):
        return tf.sin(W0 * (tf.matmul(x, self.w) + self.b))


model = keras.Sequential(
    [
        keras.Input((2,)),
        Sine(WIDTH, first=True),
        Sine(WIDTH),
        Sine(WIDTH),
        layers.Dense(1, kernel_initializer=keras.initializers.RandomUniform(-0.02, 0.02)),
    ]
)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-4, STEPS))
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(mics), BATCH)
    loss = train_step(tf.constant(mics[pick]), tf.constant(y_mics[pick]))
    if step % 200 == 199:
        print(f"step {step + 1} loss {float(loss):.4f}")

err = np.mean((model.predict(probe.astype("float32"), verbose=0) - y_probe) ** 2)
print("SCORE r2", round(float(1 - err / np.var(y_probe)), 4))

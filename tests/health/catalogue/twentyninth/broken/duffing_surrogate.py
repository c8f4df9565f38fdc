"""Learns the one-step map of a driven double-well oscillator as a fast surrogate of its integrator."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BATCH, STEPS = 64, 1200


def advance(state, dt=0.02, n=50):
    q, v, phase = state.T.copy()
    for _ in range(n):
        v = v + dt * (q - q**3 - 0.2 * v + 0.5 * np.cos(phase))
        q = q + dt * v
        phase = phase + dt * 1.2
    return np.stack([q, v], -1)


def transitions(n):
    s = np.stack([rng.uniform(-1.8, 1.8, n), rng.uniform(-1.5, 1.5, n), rng.uniform(0, 2 * np.pi, n)], -1)
    x = np.stack([s[:, 0], s[:, 1], np.cos(s[:, 2]), np.sin(s[:, 2])], -1)
    return x.astype("float32"), advance(s).astype("float32")


x_train, y_train = transitions(6000)
x_test, y_test = transitions(1500)


class TanhLayer(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units),
            name="w",
            initializer=keras.initializers.RandomNormal(mean=0.0, stddev=1.0),
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        return tf.tanh(tf.matmul(x, self.w) + self.b)


model = keras.Sequential(
    [
        keras.Input((4,)),
        TanhLayer(64),
        TanhLayer(64),
        TanhLayer(64),
        layers.Dense(2),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


running = None
for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss = float(train_step(x_train[pick], y_train[pick]))
    running = loss if running is None else 0.98 * running + 0.02 * loss
    if (step + 1) % 200 == 0:
        print(f"step {step + 1:4d}  loss {running:.5f}")

pred = model.predict(x_test, batch_size=500, verbose=0)
print("SCORE rmse", float(np.sqrt(np.mean((pred - y_test) ** 2))))

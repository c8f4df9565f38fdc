"""Solves the swing of a damped pendulum with a physics-informed network that is given only the equation and the start."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAMP, STIFF, END = 0.3, 4.0, 3.0


class Swing(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [layers.Dense(32, activation="tanh") for _ in range(3)]
        self.out = layers.Dense(1)

    def call(self, t):
        h = t / (END / 2) - 1.0
        for layer in self.hidden:
            h = layer(h)
        return 1.0 + tf.square(tf.tanh(t)) * self.out(h)  # position 1 and speed 0 at the start, by construction


model = Swing()
model(tf.zeros((1, 1)))
rate = keras.optimizers.schedules.ExponentialDecay(5e-3, 400, 0.6)
optimizer = keras.optimizers.Adam(rate)
gradwatch.watch(model)


@tf.function
def step(t):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as outer:
            outer.watch(t)
            with tf.GradientTape() as inner:
                inner.watch(t)
                x = model(t, training=True)
            v = inner.gradient(x, t)
        a = outer.gradient(v, t)
        loss = tf.reduce_mean(tf.square(a + DAMP * v + STIFF * tf.sin(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(1500):
    step(tf.constant(rng.uniform(0, END, (64, 1)), tf.float32))

x, v, dt, path = 1.0, 0.0, 1e-3, []
for _ in range(int(END / dt)):
    path.append(x)
    v += dt * (-DAMP * v - STIFF * np.sin(x))
    x += dt * v
t = (np.arange(len(path)) * dt).astype("float32")[:, None]
print("SCORE rmse", round(float(np.sqrt(np.mean((model(t).numpy()[:, 0] - path) ** 2))), 4))

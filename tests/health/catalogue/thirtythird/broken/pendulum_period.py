"""Fit a surrogate for the period of a damped large-angle pendulum from its physical parameters."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def period(length, gravity, angle, damping):
    """Period by the arithmetic-geometric mean, with a damping correction."""
    a, b = np.ones_like(angle), np.cos(angle / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    t0 = 2 * np.pi * np.sqrt(length / gravity) / a
    return t0 / np.sqrt(1 - damping**2)


def make(n):
    length = rng.uniform(0.2, 3.0, n)
    gravity = rng.uniform(1.6, 12.0, n)
    angle = rng.uniform(0.05, 2.6, n)
    damping = rng.uniform(0.0, 0.6, n)
    x = np.stack([length, gravity, angle, damping], 1).astype("float32")
    y = period(length, gravity, angle, damping) * (1 + 0.01 * rng.normal(size=n))
    return x, y.astype("float32")


x_train, y_train = make(6000)
x_test, y_test = make(1500)
x_mean, x_std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - x_mean) / x_std, (x_test - x_mean) / x_std
y_mean, y_std = y_train.mean(), y_train.std()
t_train = (y_train - y_mean) / y_std

model = keras.Sequential(
    [
        layers.Input((4,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
dataset = tf.data.Dataset.from_tensor_slices((x_train, t_train)).shuffle(6000, seed=seed).batch(64)

gradwatch.watch(model)


@tf.function
def train_step(x, t):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(pred - t))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = [float(train_step(x, t)) for x, t in dataset]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0] * y_std + y_mean
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE r2", round(float(r2), 4))

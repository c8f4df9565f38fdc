"""Estimate the melt temperature of an extruder from its sensors."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_data(n):
    zones = rng.normal(200, 12, (n, 4))
    screw = rng.uniform(30, 110, n)
    pressure = 40 + 0.9 * screw + rng.normal(0, 6, n)
    moisture = rng.exponential(0.04, n)
    melt = zones @ np.array([0.1, 0.15, 0.25, 0.5]) + 0.002 * screw**2
    melt = melt + 0.05 * pressure - 60 * moisture + rng.normal(0, 1.5, n)
    x = np.column_stack([zones, screw, pressure, moisture])
    return x, melt


x, y = make_data(5000)
x_test, y_test = make_data(1000)
x_mean, x_std = x.mean(axis=0), x.std(axis=0)
y_mean, y_std = y.mean(), y.std()
x = ((x - x_mean) / x_std).astype("float32")
y = ((y - y_mean) / y_std).astype("float32")
x_test = ((x_test - x_mean) / x_std).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000, seed=seed).batch(50)

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        layers.Dense(48, activation="elu"),
        layers.Dense(48, activation="elu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Nadam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        pred = model(features, training=True)
        error = pred - target
        loss = tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * error**2, tf.abs(error) - 0.5))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    losses = [float(train_step(features, target)) for features, target in dataset]
    print(f"epoch {epoch + 1}: huber {np.mean(losses):.4f}")

pred = model(x_test).numpy().ravel() * y_std + y_mean
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", float(r2))

"""Estimate the wear of aircraft engines from a snapshot of their raw gauge readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GAUGES = 14
mix = rng.normal(0, 1, (5, GAUGES))
offset = rng.uniform(-50, 900, GAUGES)
scale = rng.uniform(0.5, 30, GAUGES)


def engines(n):
    s = rng.normal(0, 1, (n, 5))
    wear = np.tanh(s[:, 0] * s[:, 1]) + 0.6 * np.sin(2 * s[:, 2]) + 0.4 * s[:, 3]
    x = offset + scale * (s @ mix + rng.normal(0, 0.1, (n, GAUGES)))
    return x.astype("float32"), (wear + rng.normal(0, 0.05, n)).astype("float32")[:, None]


x_train, y_train = engines(4000)
x_test, y_test = engines(1000)

# the first layer takes care of the different units of the gauges
model = keras.Sequential(
    [
        layers.Input((GAUGES,)),
        layers.BatchNormalization(),
        layers.Dense(64),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.Dense(64),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(20):
    total = 0.0
    for x, y in data:
        total += float(train_step(x, y))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} mse {total / len(data):.4f}")

pred = model.predict(x_test, verbose=0)
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))

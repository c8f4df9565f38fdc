"""Heat demand of a building three hours ahead from a day of plant readings (LSTM)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

STEPS = 24


def make_days(n):
    hour0 = rng.integers(0, 24, n)
    hours = (hour0[:, None] + np.arange(STEPS + 3)[None, :]) % 24
    cold = rng.normal(0, 4, (n, 1)) + np.cumsum(rng.normal(0, 0.5, (n, STEPS + 3)), axis=1)
    outdoor = 278.0 + cold + 3.0 * np.sin(2 * np.pi * (hours - 9) / 24)
    pressure = 1013.0 + rng.normal(0, 8, (n, 1)) + rng.normal(0, 1, (n, STEPS + 3))
    occupied = ((hours > 6) & (hours < 20)).astype("float64")
    demand = 410.0 - 9.0 * (outdoor - 278.0) + 90.0 * occupied + rng.normal(0, 8, (n, STEPS + 3))
    x = np.stack([outdoor, pressure, demand, 100.0 * occupied], axis=-1)[:, :STEPS]
    y = demand[:, -1]
    return x.astype("float32"), y.astype("float32")


x_train, y_train = make_days(6000)
x_test, y_test = make_days(1500)
y_mean, y_std = y_train.mean(), y_train.std()
y_train, y_test = (y_train - y_mean) / y_std, (y_test - y_mean) / y_std

model = keras.Sequential(
    [
        keras.Input(shape=(STEPS, 4)),
        layers.LSTM(40),
        layers.Dense(24, activation="tanh"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(learning_rate=2e-3)
gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(64, drop_remainder=True)
)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = [train_step(x, y) for x, y in dataset]
    print(f"epoch {epoch + 1:2d} loss {float(tf.reduce_mean(losses)):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

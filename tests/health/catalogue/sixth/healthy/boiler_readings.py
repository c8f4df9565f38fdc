"""Three boiler readings (hPa, K, percent) from sensor features, in their own units."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 3000
x = rng.normal(size=(N, 8)).astype("float32")
y = np.stack(
    [
        1013.0 + 9.0 * np.tanh(x[:, 0] + x[:, 1]),
        350.0 + 12.0 * x[:, 2] * (x[:, 3] > 0),
        55.0 + 10.0 * np.sin(x[:, 4]),
    ],
    1,
).astype("float32") + rng.normal(0, 0.5, (N, 3)).astype("float32")
mean, std = y[:2500].mean(0), y[:2500].std(0)

model = keras.Sequential(
    [
        layers.Input((8,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(3),
        layers.Rescaling(scale=std, offset=mean),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
average = keras.models.clone_model(model)
average.set_weights(model.get_weights())


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square((b - model(a, training=True)) / std))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for avg, var in zip(average.trainable_variables, model.trainable_variables):
        avg.assign(0.97 * avg + 0.03 * var)
    return loss


gradwatch.watch(model)
for step in range(400):
    i = rng.integers(0, 2500, 64)
    loss = train_step(x[i], y[i])
    if (step + 1) % 50 == 0:
        err = np.sqrt(((average(x[2500:]).numpy() - y[2500:]) ** 2).mean(0))
        print(step + 1, "loss", float(loss), "test rmse of the average", err.round(2))
print("std of the targets", std)

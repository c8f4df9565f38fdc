"""Forecast the heat demand of a district six hours ahead from the past two days of load and weather."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, PAST, AHEAD, BATCH = 24 * 220, 48, 6, 64

t = np.arange(HOURS)
season = 8 - 9 * np.cos(2 * np.pi * (t / 24 - 120) / 365)
front = np.zeros(HOURS)
for i in range(1, HOURS):
    front[i] = 0.985 * front[i - 1] + rng.normal(0, 0.5)
temperature = season + 3.5 * np.sin(2 * np.pi * (t - 9) / 24) + front
hour = t % 24
morning = np.exp(-0.5 * ((hour - 7) / 1.6) ** 2) + 0.7 * np.exp(-0.5 * ((hour - 19) / 2.2) ** 2)
weekend = ((t // 24) % 7 >= 5).astype(float)
load = 14 + 1.6 * np.maximum(17 - temperature, 0) + 11 * morning * (1 - 0.4 * weekend)
load = load + rng.normal(0, 1.0, HOURS)

series = np.stack([load, temperature, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), weekend], -1)
cut = int(0.8 * HOURS)
mu, sd = series[:cut].mean(0), series[:cut].std(0)
series = ((series - mu) / sd).astype("float32")


def windows(first, last):
    starts = np.arange(first, last - PAST - AHEAD)
    x = np.stack([series[s : s + PAST] for s in starts])
    y = series[starts + PAST + AHEAD - 1, 0]
    return x, y


x_train, y_train = windows(0, cut)
x_test, y_test = windows(cut, HOURS)

train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(BATCH, drop_remainder=True)
)

model = keras.Sequential(
    [
        keras.Input((PAST, series.shape[1])),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.GRU(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        forecast = model(x, training=True)
        loss = tf.reduce_mean(tf.square(forecast - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    losses = [float(train_step(x, y)) for x, y in train]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

forecast = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.sum((forecast - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE r2", round(float(r2), 4))

"""Next hour's heat demand of buildings, from the last two days of meter readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PAST = 48
HOURS = 24 * 40


def building():
    base = rng.uniform(20, 160)  # kW
    hours = np.arange(HOURS)
    swing = rng.uniform(0.15, 0.35)
    morning = rng.uniform(5, 9)
    day = np.cos(2 * np.pi * (hours - morning) / 24) + 0.4 * np.cos(4 * np.pi * (hours - morning) / 24)
    weather = np.zeros(HOURS)
    for i in range(1, HOURS):
        weather[i] = 0.98 * weather[i - 1] + 0.03 * rng.normal()
    load = base * (1 + swing * day + weather) + 0.02 * base * rng.normal(size=HOURS)
    return np.maximum(load, 1.0)


def cut(series, count):
    starts = rng.integers(0, HOURS - PAST - 1, count)
    past = np.stack([series[s : s + PAST] for s in starts])
    future = np.array([series[s + PAST] for s in starts])
    return past, future


def gather(buildings, per_building):
    parts = [cut(building(), per_building) for _ in range(buildings)]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


past, future = gather(60, 120)
test_past, test_future = gather(20, 60)
centre, width = past.mean(), past.std()


def scale(windows):
    m, s = windows.mean(axis=1, keepdims=True), windows.std(axis=1, keepdims=True)
    return ((windows - m) / s).astype("float32")[..., None]


x, x_test = scale(past), scale(test_past)
y, y_test = (((f - centre) / width).astype("float32")[:, None] for f in (future, test_future))

model = keras.Sequential(
    [
        keras.Input((PAST, 1)),
        layers.Conv1D(16, 6, strides=2, activation="relu", name="ramps"),
        layers.Conv1D(24, 6, strides=2, activation="relu", name="days"),
        layers.Flatten(),
        layers.Dense(48, activation="relu", name="combine"),
        layers.Dense(1, name="next_hour"),
    ],
    name="demand",
)
optimizer = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()

gradwatch.watch(model)

batch = 64
for epoch in range(5):
    order = rng.permutation(len(x))
    losses = []
    for i in range(0, len(x) - batch + 1, batch):
        rows = order[i : i + batch]
        with tf.GradientTape() as tape:
            loss = mse(y[rows], model(x[rows], training=True))
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(gradients, model.trainable_weights))
        losses.append(float(loss))
    print(f"epoch {epoch + 1}  mse {np.mean(losses):.4f}  test {float(mse(y_test, model(x_test))):.4f}")

predicted = model(x_test).numpy()
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print(f"SCORE test_r2 {r2:.4f}")

"""Maize yield from a season of weekly weather, trained with small chunks per update."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WEEKS = 24
CHUNK = 32
CHUNKS_PER_UPDATE = 3
UPDATES = 300


def make_fields(n):
    """Weekly temperature, rain and radiation; yield in t/ha."""
    week = np.arange(WEEKS)
    season = 12 + 10 * np.sin(np.pi * (week + 2) / 28)
    temp = season + rng.normal(0, 1.5, (n, 1)) + rng.normal(0, 2, (n, WEEKS))
    rain = rng.gamma(1.2, 14, (n, WEEKS)) * rng.uniform(0.5, 1.5, (n, 1))
    sun = 15 + 6 * np.sin(np.pi * (week + 1) / 26) + rng.normal(0, 2, (n, WEEKS))
    heat = np.clip(temp - 8, 0, 20).sum(axis=1)
    flowering = rain[:, 11:16].mean(axis=1)
    stress = 1 / (1 + np.exp((flowering - 14) / 4))
    crop = 0.028 * heat + 0.012 * sun.sum(axis=1) - 4.2 * stress + rng.normal(0, 0.3, n)
    return np.stack([temp, rain, sun], axis=-1), crop


x, y = make_fields(5000)
x_mean, x_std = x[:4000].mean(axis=(0, 1)), x[:4000].std(axis=(0, 1))
y_mean, y_std = y[:4000].mean(), y[:4000].std()
x = ((x - x_mean) / x_std).astype("float32")
y = ((y - y_mean) / y_std).astype("float32")
x_train, y_train, x_test, y_test = x[:4000], y[:4000], x[4000:], y[4000:]

model = keras.Sequential(
    [
        keras.Input((WEEKS, 3)),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-3)
watch = gradwatch.watch(model, optimizer)


def chunk_gradients(xb, yb):
    with tf.GradientTape() as tape:
        pred = tf.squeeze(model(xb, training=True), axis=-1)
        loss = tf.reduce_mean(tf.square(pred - yb)) / CHUNKS_PER_UPDATE
    return loss, tape.gradient(loss, model.trainable_variables)


for update in range(UPDATES):
    total = [tf.zeros_like(v) for v in model.trainable_variables]
    loss = 0.0
    for _ in range(CHUNKS_PER_UPDATE):
        idx = rng.integers(0, len(x_train), CHUNK)
        part, grads = chunk_gradients(tf.constant(x_train[idx]), tf.constant(y_train[idx]))
        total = [t + g for t, g in zip(total, grads)]
        loss = loss + part
    optimizer.apply_gradients(zip(total, model.trainable_variables))
    watch.log(loss=loss)
    if update % 50 == 0:
        print("update", update, "loss", float(loss))

pred = model(x_test).numpy()[:, 0]
score = float(1.0 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2))
print("score", score)

"""Trains a residual network that estimates the ripeness of cheese wheels from cellar records."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

KEEP = 0.9
WIDTH, BATCH, EPOCHS = 48, 64, 40


def wheels(n):
    days = rng.uniform(10, 300, n)
    warmth = rng.normal(12.0, 2.0, n)
    damp = rng.uniform(70, 98, n)
    salt = rng.normal(1.8, 0.3, n)
    fat = rng.normal(45.0, 5.0, n)
    turned = rng.integers(0, 2, n)
    speed = np.exp(0.2 * (warmth - 12.0) - 0.8 * (salt - 1.8))
    ripe = 1.0 - np.exp(-days * speed / 120.0)
    crust = np.sin((damp - 70.0) / 6.0) * np.where(turned, 0.25, -0.15)
    score = 3.0 * ripe + crust + 0.3 * ((fat - 45.0) / 5.0) * ripe
    x = np.stack([days, warmth, damp, salt, fat, turned], 1)
    return x, score + rng.normal(0.0, 0.05, n)


class Block(keras.layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.first = keras.layers.Dense(2 * width, activation="relu")
        self.second = keras.layers.Dense(width)

    def call(self, x, training=False):
        h = self.first(x)
        if training:
            h = tf.nn.dropout(h, 1.0 - KEEP)
        return x + self.second(h)


x, y = wheels(5000)
x_test, y_test = wheels(1200)
mean, std = x.mean(0), x.std(0)
x, x_test = [((v - mean) / std).astype("float32") for v in (x, x_test)]
y_mean, y_std = y.mean(), y.std()
y, y_test = [((v - y_mean) / y_std).astype("float32") for v in (y, y_test)]

inputs = keras.Input((x.shape[1],))
h = keras.layers.Dense(WIDTH)(inputs)
for _ in range(3):
    h = Block(WIDTH)(h)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
steps = EPOCHS * (len(x) // BATCH)
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, steps, alpha=0.02))
gradwatch.watch(model)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True)[:, 0] - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    order = rng.permutation(len(x))
    losses = []
    for rows in np.array_split(order, len(x) // BATCH):
        losses.append(float(train_step(x[rows], y[rows])))
    if epoch % 4 == 0:
        print(f"epoch {epoch} mse {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", float(1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

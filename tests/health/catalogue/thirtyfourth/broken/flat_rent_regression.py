"""Predicts the monthly rent of flats from tabular features with a small dense network."""

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
area = rng.gamma(6, 12, N)
rooms = np.clip(np.round(area / 25 + rng.normal(0, 0.6, N)), 1, 7)
floor = rng.integers(0, 9, N)
age = rng.uniform(0, 100, N)
dist = rng.gamma(2, 3, N)
lift = (rng.random(N) < 0.5).astype(float)
rent = (
    9.5 * area
    + 60 * rooms
    + 12 * floor * lift
    - 20 * floor * (1 - lift)
    - 35 * dist
    + 0.05 * (age - 50) ** 2
    + rng.normal(0, 60, N)
)

X = np.stack([area, rooms, floor, age, dist, lift], 1)
X_train, X_test = X[:2400], X[2400:]
mu, sd = X_train.mean(0), X_train.std(0)
X_train = ((X_train - mu) / sd).astype("float32")
X_test = ((X_test - mu) / sd).astype("float32")
ym, ys = rent[:2400].mean(), rent[:2400].std()
y_train = ((rent[:2400] - ym) / ys).astype("float32")
y_test = rent[2400:]

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(24, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((X_train, y_train)).shuffle(2400).batch(64)
for epoch in range(15):
    losses = [float(train_step(x, y)) for x, y in data]
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "loss", round(float(np.mean(losses)), 4))

pred = model.predict(X_test, verbose=0)[:, 0] * ys + ym
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))

"""Predict the 28-day compressive strength of a concrete mix from its recipe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_mixes(n):
    cement = rng.uniform(150, 500, n)
    slag = rng.uniform(0, 200, n) * (rng.random(n) < 0.6)
    ash = rng.uniform(0, 150, n) * (rng.random(n) < 0.5)
    water = rng.uniform(130, 230, n)
    plast = rng.uniform(0, 20, n) * (rng.random(n) < 0.6)
    coarse = rng.uniform(800, 1100, n)
    fine = rng.uniform(600, 950, n)
    temp = rng.uniform(5, 30, n)
    binder = cement + 0.8 * slag + 0.4 * ash
    ratio = water / binder
    mpa = 95 / (5.0**ratio) + 0.4 * plast - 0.02 * (temp - 20) ** 2 + 0.01 * (fine - 750)
    mpa = mpa + rng.normal(0, 2.0, n)
    x = np.stack([cement, slag, ash, water, plast, coarse, fine, temp], 1)
    return x, mpa


x, y = make_mixes(3000)
x = ((x - x[:2400].mean(0)) / x[:2400].std(0)).astype("float32")
y_mean, y_std = y[:2400].mean(), y[:2400].std()
y = ((y - y_mean) / y_std).astype("float32")
x_train, y_train, x_test, y_test = x[:2400], y[:2400], x[2400:], y[2400:]

model = keras.Sequential(
    [
        layers.Input((8,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
data = data.shuffle(2400, seed=seed).batch(64, drop_remainder=True)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(yb - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(25):
    losses = [float(train_step(xb, yb)) for xb, yb in data]
    if epoch % 5 == 0:
        print(f"epoch {epoch} mse {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE r2", round(float(r2), 4))

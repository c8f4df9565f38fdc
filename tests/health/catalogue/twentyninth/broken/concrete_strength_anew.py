"""Estimates the compressive strength of concrete from its mix and its age."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def mixes(n):
    cement = rng.uniform(120, 520, n)
    slag = rng.uniform(0, 200, n)
    ash = rng.uniform(0, 150, n)
    water = rng.uniform(130, 230, n)
    plasticizer = rng.uniform(0, 20, n)
    age = np.exp(rng.uniform(np.log(1), np.log(180), n))
    binder = cement + 0.7 * slag + 0.4 * ash
    strength = 28 * (binder / (water - 1.5 * plasticizer)) ** 0.9 * (age / (4 + 0.85 * age)) ** 0.7
    strength += rng.normal(0, 3.0, n)
    x = np.stack([cement, slag, ash, water, plasticizer, np.log(age)], -1)
    return x.astype("float32"), strength.astype("float32")


x_train, y_train = mixes(3000)
x_test, y_test = mixes(700)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
y_mean, y_std = y_train.mean(), y_train.std()
y_train = (y_train - y_mean) / y_std

model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
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


train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(32, drop_remainder=True)
)
for epoch in range(10):
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    print(f"epoch {epoch + 1:2d}  mse {np.mean(losses):.4f}")

pred = model.predict(x_test, batch_size=256, verbose=0)[:, 0] * y_std + y_mean
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

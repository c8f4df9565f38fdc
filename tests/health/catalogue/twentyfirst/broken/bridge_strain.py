"""Predict mid-span strain of a road bridge from weigh-in-motion features."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make_passages(n):
    load = rng.gamma(6.0, 3.0, n)  # t
    speed = rng.normal(70, 15, n)  # km/h
    lane = rng.integers(0, 2, n)
    temp = rng.normal(12, 8, n)  # deg C
    axles = rng.integers(2, 7, n)
    offset = rng.uniform(-1, 1, n)  # m from lane centre
    dyn = 1 + 0.002 * (speed - 70) + 0.15 * np.sin(speed / 9.0)
    strain = load * dyn * (1.3 - 0.5 * lane) / np.sqrt(axles)
    strain = strain * (1 - 0.2 * offset**2) + 0.35 * temp
    strain += rng.normal(0, 0.6, n)
    x = np.stack([load, speed, lane, temp, axles, offset], 1)
    return x.astype("float32"), strain.astype("float32")


X, y = make_passages(5000)
X_train, X_test = X[:4000], X[4000:]
y_train, y_test = y[:4000], y[4000:]

mu, sd = X_train.mean(0), X_train.std(0)
X_train, X_test = (X_train - mu) / sd, (X_test - mu) / sd
y_mu, y_sd = y_train.mean(), y_train.std()
y_train, y_test = (y_train - y_mu) / y_sd, (y_test - y_mu) / y_sd

inputs = keras.Input((6,))
h = keras.layers.Dense(64, activation="relu")(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
outputs = keras.layers.Dense(1)(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)

gradwatch.watch(model)

train_ds = (
    tf.data.Dataset.from_tensor_slices((X_train, y_train)).shuffle(4000, seed=seed).batch(64, drop_remainder=True)
)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(yb - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}")

pred = model.predict(X_test, verbose=0).ravel()
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print(f"test R2 {r2:.3f}")

"""Predicts six soil laboratory values from near-infrared spectra; not every sample was sent to every analysis."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, BANDS, VALUES, BATCH, STEPS = 3000, 50, 6, 64, 1000
loading = np.cumsum(rng.normal(size=(10, BANDS)), axis=1) / 5
mixing = rng.normal(size=(10, VALUES)) / np.sqrt(10)


def samples(n):
    z = rng.normal(size=(n, 10))
    x = z @ loading + rng.normal(0, 0.15, (n, BANDS))
    y = np.tanh(z @ mixing) * 2 + 0.3 * (z @ mixing) ** 2 + rng.normal(0, 0.15, (n, VALUES))
    return x.astype("float32"), y.astype("float32")


x_train, y_train = samples(N)
x_test, y_test = samples(800)
share = np.array([0.9, 0.6, 0.5, 0.35, 0.3, 0.25])
y_train[rng.random(y_train.shape) > share] = np.nan

mean, std = np.nanmean(y_train, 0), np.nanstd(y_train, 0)
y_scaled = (y_train - mean) / std
measured = (~np.isnan(y_scaled)).astype("float32")
y_scaled = np.nan_to_num(y_scaled)
xm, xs = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - xm) / xs, (x_test - xm) / xs
print("measured share per value", measured.mean(0).round(2))

model = keras.Sequential(
    [
        keras.Input((BANDS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(VALUES),
    ]
)
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        err = tf.square(model(x, training=True) - y)
        loss = tf.reduce_mean(err)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    i = rng.integers(0, N, BATCH)
    loss = train_step(tf.constant(x_train[i]), tf.constant(y_scaled[i]))
    if step % 100 == 0:
        print(step, float(loss))

pred = model.predict(x_test, verbose=0) * std + mean
r2 = 1 - np.sum((pred - y_test) ** 2, 0) / np.sum((y_test - y_test.mean(0)) ** 2, 0)
print("SCORE mean_r2", round(float(r2.mean()), 4))

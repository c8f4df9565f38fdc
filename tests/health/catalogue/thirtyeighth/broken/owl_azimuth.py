"""Estimates the direction a call comes from, from the recordings of two microphones (left, right), with augmentation by mirroring."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN, N = 64, 4000


def calls(n):
    az = rng.uniform(-1, 1, n)
    t = np.arange(LEN + 20)
    f = rng.uniform(0.15, 0.6, (n, 1))
    body = np.sin(f * t + rng.uniform(0, 6.3, (n, 1))) + 0.7 * np.cumsum(rng.normal(0, 0.5, (n, LEN + 20)), 1) / 3
    body -= body.mean(1, keepdims=True)
    delay = np.round(az * 6).astype(int)
    x = np.zeros((n, LEN, 2))
    for i in range(n):
        x[i, :, 0] = body[i, 8 : 8 + LEN] * (1 - 0.25 * az[i])
        x[i, :, 1] = body[i, 8 + delay[i] : 8 + delay[i] + LEN] * (1 + 0.25 * az[i])
    return (x + rng.normal(0, 0.15, x.shape)).astype("float32"), az.astype("float32")


x_train, y_train = calls(N)
x_test, y_test = calls(1000)


def mirror(x, az):
    if tf.random.uniform(()) < 0.5:
        x = tf.reverse(x, axis=[-1])
    return x, az


def louder(x, az):
    return x * tf.random.uniform((), 0.7, 1.4), az


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(N, seed=seed)
data = data.map(mirror).map(louder).batch(64).prefetch(2)

inp = keras.Input((LEN, 2))
h = layers.Conv1D(24, 9, activation="relu")(inp)
h = layers.Conv1D(24, 9, strides=2, activation="relu")(h)
h = layers.Conv1D(32, 5, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(2e-3), "mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(data, epochs=15, shuffle=False, verbose=2)
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE mae", round(float(np.mean(np.abs(pred - y_test))), 4))

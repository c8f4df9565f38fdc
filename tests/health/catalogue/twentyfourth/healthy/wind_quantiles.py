"""Quantiles of wind-farm output; batches of eight, fast SGD with momentum and step drops."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

QUANTILES = np.array([0.1, 0.5, 0.9], "float32")


def make_hours(n):
    speed = rng.weibull(2.0, n) * 8
    direction = rng.uniform(0, 2 * np.pi, n)
    temperature = rng.normal(10, 7, n)
    curve = 1 / (1 + np.exp(-(speed - 8) * 0.8))
    wake = 1 - 0.3 * np.exp(-4 * (1 - np.cos(direction - 1.0)))
    output = curve * wake + 0.15 * curve * (1 - curve) * 4 * rng.standard_t(4, n) * 0.6
    x = np.stack([speed / 8, np.sin(direction), np.cos(direction), temperature / 7], axis=1)
    return x.astype("float32"), (10 * output).astype("float32")


x_train, y_train = make_hours(3000)
x_test, y_test = make_hours(2000)


def pinball(y_true, y_pred):
    error = tf.reshape(y_true, (-1, 1)) - y_pred
    return tf.reduce_mean(tf.maximum(QUANTILES * error, (QUANTILES - 1.0) * error), axis=-1)


model = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(3),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss=pinball)


def drop(epoch, rate):
    return rate * 0.1 if epoch in (2, 3) else rate


gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=8,
    epochs=4,
    validation_data=(x_test, y_test),
    callbacks=[keras.callbacks.LearningRateScheduler(drop)],
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
cover = np.mean((y_test > pred[:, 0]) & (y_test < pred[:, 2]))
print("cover of the 80 percent interval", float(cover))
print("SCORE r2_of_median", float(1 - np.mean((pred[:, 1] - y_test) ** 2) / np.var(y_test)))

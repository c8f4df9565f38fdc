"""Regression of an engine's torque map from seven operating variables, with a decaying learning rate."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def bench(n):
    x = rng.uniform(-1, 1, (n, 7))
    y = np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3] + 1.5 * np.maximum(x[:, 4] - x[:, 5], 0) + x[:, 6] ** 2
    return x.astype("float32"), (y + rng.normal(0, 0.05, n)).astype("float32")


x_train, y_train = bench(4000)
x_test, y_test = bench(1000)
mu, sd = y_train.mean(), y_train.std()

model = keras.Sequential(
    [
        keras.Input((7,)),
        layers.Dense(96, activation="swish"),
        layers.Dense(96, activation="swish"),
        layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), "mse")


def decay(epoch, lr):
    return float(lr * 0.94**epoch)


gradwatch.watch(model)
model.fit(
    x_train,
    (y_train - mu) / sd,
    batch_size=128,
    epochs=45,
    verbose=2,
    callbacks=[keras.callbacks.LearningRateScheduler(decay)],
)
pred = model.predict(x_test, verbose=0)[:, 0] * sd + mu
print("SCORE rmse %.4f" % np.sqrt(((pred - y_test) ** 2).mean()))

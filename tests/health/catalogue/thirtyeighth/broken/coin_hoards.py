"""Dates the burial of a coin hoard from measurements of its coins (attention pooling over the coins of a hoard)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

COINS, FEAT, N = 24, 10, 4000
style = rng.normal(size=(3, FEAT))


def hoards(n):
    burial = rng.uniform(0, 1, (n, 1))
    age = rng.exponential(0.6, (n, COINS))
    age[:, 0] = rng.uniform(0, 0.03, n)
    minted = burial - age
    wear = rng.normal(size=(n, COINS))
    latent = np.stack([minted, np.sin(3 * minted), wear], -1)
    x = latent @ style + rng.normal(0, 0.1, (n, COINS, FEAT))
    for row in x:
        rng.shuffle(row)
    return x.astype("float32"), burial[:, 0].astype("float32")


x_train, y_train = hoards(N)
x_test, y_test = hoards(1000)
mean, std = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

bag = keras.Input((COINS, FEAT))
h = layers.Dense(32, activation="relu")(bag)
h = layers.Dense(32, activation="relu")(h)
score = layers.Dense(1)(layers.Dense(24, activation="tanh")(h))
pooled = layers.Lambda(lambda z: tf.reduce_sum(tf.nn.softmax(z[0]) * z[1], axis=1))([score, h])
out = layers.Dense(1)(layers.Dense(16, activation="relu")(pooled))
model = keras.Model(bag, out)
model.compile(keras.optimizers.Adam(2e-3), "mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=18, verbose=2)
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / y_test.var()), 4))

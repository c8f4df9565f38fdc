"""Model leak rates (cubic metres per second, around 1e-6) of valves with a heteroscedastic Gaussian likelihood."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def valves(n):
    x = rng.normal(size=(n, 8))
    mean = 1e-6 * (3 + np.sin(2 * x[:, 0]) + 0.6 * x[:, 1] * (x[:, 2] > 0))
    spread = 1e-7 * np.exp(0.6 * x[:, 3])
    return x.astype("float32"), (mean + spread * rng.normal(size=n)).astype("float32")


UNIT = 1e-6


class LeakModel(keras.Model):
    """Gives the mean and the log of the standard deviation in SI units."""

    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([layers.Dense(48, activation="swish"), layers.Dense(48, activation="swish")])
        self.mean, self.spread = layers.Dense(1), layers.Dense(1)

    def call(self, x):
        h = self.body(x)
        return tf.concat([UNIT * self.mean(h), self.spread(h) + np.log(UNIT)], -1)


def gaussian_nll(y, out):
    mu, log_sd = out[:, 0], out[:, 1]
    z = (tf.reshape(y, (-1,)) - mu) * tf.exp(-log_sd)
    return tf.reduce_mean(0.5 * tf.square(z) + log_sd)


x, y = valves(5000)
xt, yt = valves(1000)
model = LeakModel()
model(x[:2])
model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss=gaussian_nll)
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=14, verbose=2)
mu = model.predict(xt, verbose=0)[:, 0]
print("SCORE r2_of_mean", round(float(1 - np.mean((mu - yt) ** 2) / np.var(yt)), 4))

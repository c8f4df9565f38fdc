"""Forecast tomorrow's two-hourly heat load of a district as a mixture of day profiles with uncertainty."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, H, K = 6000, 12, 2
hour = np.arange(0, 24, 2)
morning = np.exp(-(((hour - 7) / 2.0) ** 2))
evening = np.exp(-(((hour - 19) / 3.0) ** 2))

cold = rng.normal(0, 1, N)  # forecast temperature anomaly
windy = rng.gamma(2, 0.5, N)
weekday = rng.integers(0, 7, N)
late = rng.random(N) < 0.3  # schools and offices start late, unknown beforehand
level = 0.8 * cold + 0.3 * windy
peak = np.where(weekday < 5, 1.5, 0.6) + 0.3 * cold
load = level[:, None] + peak[:, None] * np.where(late[:, None], np.roll(morning, 1), morning) + 1.1 * evening
load += rng.normal(0, 0.08, (N, H))
festive = rng.random(N) < 0.015  # public holidays and outages shift the whole day
load[festive] += rng.normal(0, 1.2, (festive.sum(), 1)) * np.cos(hour / 4 + rng.uniform(0, 6, (festive.sum(), 1)))

x = np.concatenate([cold[:, None], windy[:, None], np.eye(7)[weekday]], 1).astype("float32")
y = ((load - load.mean()) / load.std()).astype("float32")
x_train, y_train, x_test, y_test = x[:5000], y[:5000], x[5000:], y[5000:]

inp = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="relu")(inp)
h = layers.Dense(64, activation="relu")(h)
mix = layers.Dense(K)(h)
mean = layers.Dense(K * H)(h)
log_sigma = layers.Dense(K * H)(h)
model = keras.Model(inp, layers.Concatenate()([mix, mean, log_sigma]))


def split(out):
    mix, mean, log_sigma = tf.split(out, [K, K * H, K * H], axis=-1)
    return mix, tf.reshape(mean, (-1, K, H)), tf.reshape(log_sigma, (-1, K, H))


def mixture_nll(y_true, out):
    mix, mean, log_sigma = split(out)
    z = (y_true[:, None, :] - mean) * tf.exp(-log_sigma)
    log_pdf = tf.reduce_sum(-0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi), axis=-1)
    likelihood = tf.reduce_sum(tf.nn.softmax(mix) * tf.exp(log_pdf), axis=-1)
    return -tf.math.log(likelihood)


model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=5.0), loss=mixture_nll)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=15, verbose=2)

mix, mean, _ = split(model(x_test))
forecast = tf.reduce_sum(tf.nn.softmax(mix)[..., None] * mean, 1).numpy()
print("SCORE mae", round(float(np.mean(np.abs(forecast - y_test))), 4))

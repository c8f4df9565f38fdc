"""Probabilistic hour-ahead forecast of a solar park's output, a mean and a spread for every hour."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

H = 24 * 420
hour = np.arange(H)
elev = np.maximum(0, np.sin((hour % 24 - 6) / 12 * np.pi)) * (0.75 + 0.25 * np.sin(2 * np.pi * hour / 8760))
cloud = np.zeros(H)
for i in range(1, H):
    cloud[i] = 0.93 * cloud[i - 1] + rng.normal(0, 0.35)
power = elev * (1 - 0.75 / (1 + np.exp(-1.5 * cloud)))
L = 12
feat = np.stack(
    [power, elev, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), cloud + rng.normal(0, 0.3, H)], 1
)
X = np.stack([feat[i : i + L] for i in range(H - L)]).astype("float32")
Y = power[L:].astype("float32")
elev_next = elev[L:].astype("float32")[:, None]
cut = 24 * 340

win = keras.Input((L, 5))
sun = keras.Input((1,))
h = layers.Concatenate()([layers.Flatten()(win), sun])
h = layers.Dense(64, activation="relu")(h)
h = layers.Dense(64, activation="relu")(h)
mean = layers.Multiply()([layers.Dense(1, activation="softplus")(h), sun])  # no sun, no power
sigma = layers.Dense(1, activation="softplus")(h)
model = keras.Model([win, sun], layers.Concatenate()([mean, sigma]))


def gaussian_nll(y, out):
    y = tf.reshape(y, (-1, 1))
    mu, sigma = out[:, :1], out[:, 1:]
    return tf.reduce_mean(tf.math.log(sigma) + 0.5 * tf.square(y - mu) / tf.square(sigma))


model.compile(optimizer=keras.optimizers.Adam(4e-4), loss=gaussian_nll)
gradwatch.watch(model)
model.fit([X[:cut], elev_next[:cut]], Y[:cut], batch_size=64, epochs=10, verbose=2)
mu = model.predict([X[cut:], elev_next[cut:]], verbose=0)[:, 0]
day = elev_next[cut:, 0] > 0
print("SCORE mae_daylight", float(np.mean(np.abs(mu - Y[cut:])[day])))

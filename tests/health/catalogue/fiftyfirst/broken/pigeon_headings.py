"""Vanishing bearings of homing pigeons: a von Mises head gives direction and concentration."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rs = np.random.RandomState(SEED)


def make_releases(n):
    site = rs.uniform(-1, 1, size=(n, 2))  # release point relative to the loft, 100 km
    sun = rs.uniform(-np.pi, np.pi, n)
    wind = rs.normal(0, 0.5, size=(n, 2))
    flights = rs.randint(0, 40, n) / 40.0
    overcast = rs.rand(n)
    home = np.arctan2(-site[:, 1], -site[:, 0])
    drift = 0.5 * wind[:, 0] * np.cos(home) - 0.5 * wind[:, 1] * np.sin(home)
    shift = 0.4 * (1 - flights) * np.sin(sun) * (1 - overcast)
    spread = 0.03 + 0.25 * (1 - flights) * overcast
    bearing = home + drift + shift + spread * rs.randn(n)
    x = np.stack([site[:, 0], site[:, 1], np.sin(sun), np.cos(sun), wind[:, 0], wind[:, 1], flights, overcast], axis=1)
    y = np.stack([np.cos(bearing), np.sin(bearing)], axis=1)
    return x.astype("float32"), y.astype("float32")


x_train, y_train = make_releases(9000)
x_test, y_test = make_releases(2000)


def split_head(out):
    direction = tf.math.l2_normalize(out[:, :2], axis=-1, epsilon=1e-6)
    kappa = tf.exp(out[:, 2])
    return direction, kappa


def von_mises_nll(y_true, y_pred):
    direction, kappa = split_head(y_pred)
    agreement = tf.reduce_sum(direction * y_true, axis=-1)
    log_norm = tf.math.log(2.0 * np.pi * tf.math.bessel_i0(kappa))
    return log_norm - kappa * agreement


def mean_cosine(y_true, y_pred):
    direction, _ = split_head(y_pred)
    return tf.reduce_mean(tf.reduce_sum(direction * y_true, axis=-1))


inputs = keras.Input((8,))
h = layers.Dense(96, activation="swish")(inputs)
h = layers.Dense(96, activation="swish")(h)
h = layers.Dense(48, activation="swish")(h)
outputs = layers.Dense(3)(h)
net = keras.Model(inputs, outputs)
net.compile(optimizer=keras.optimizers.Adam(2e-3), loss=von_mises_nll, metrics=[mean_cosine])
gradwatch.watch(net)

net.fit(x_train, y_train, batch_size=128, epochs=25, validation_split=0.1, verbose=2)

direction, kappa = split_head(tf.convert_to_tensor(net.predict(x_test, batch_size=500, verbose=0)))
cos = np.clip(np.sum(direction.numpy() * y_test, axis=-1), -1, 1)
print("median kappa", float(np.median(kappa)))
print("SCORE mean_angle_error_deg", round(float(np.degrees(np.mean(np.arccos(cos)))), 3))

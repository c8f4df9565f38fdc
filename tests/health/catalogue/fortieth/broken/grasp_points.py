"""Predicts the several places at which a robot hand may grasp an object, as a mixture density."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

parts, dims = 4, 3


def scenes(n):
    shape = rng.normal(size=(n, 6)).astype("float32")
    a = np.tanh(shape[:, :3] + 0.5 * shape[:, 3:]) + 1.0
    flip = rng.integers(0, 2, (n, 1)) * 2 - 1
    point = a * flip * np.array([1.0, -1.0, 1.0]) + 0.15 * rng.normal(size=(n, dims))
    return shape, point.astype("float32")


x, y = scenes(6000)
xt, yt = scenes(1500)


def split(params):
    mix = tf.nn.log_softmax(params[:, :parts])
    centre = tf.reshape(params[:, parts : parts + parts * dims], (-1, parts, dims))
    log_scale = tf.reshape(params[:, parts + parts * dims :], (-1, parts, dims))
    return mix, centre, tf.clip_by_value(log_scale, -4.0, 3.0)


def mixture_nll(point, params):
    mix, centre, log_scale = split(params)
    z = (point[:, None, :] - centre) * tf.exp(-log_scale)
    log_density = -0.5 * tf.square(z) - log_scale - 0.5 * np.log(2 * np.pi)
    return -tf.reduce_sum(tf.reduce_logsumexp(mix[:, :, None] + log_density, axis=1), axis=-1)


model = keras.Sequential(
    [
        keras.Input((6,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(parts * (1 + 2 * dims)),
    ]
)
model.compile(keras.optimizers.Adam(2e-3), mixture_nll)
gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=12, verbose=0)

mix, centre, _ = split(tf.constant(model.predict(xt, verbose=0)))
mix, centre = mix.numpy(), centre.numpy()
pick = np.array([rng.choice(parts, p=np.exp(m) / np.exp(m).sum()) for m in mix])
proposed = centre[np.arange(len(pick)), pick]
a = np.tanh(xt[:, :3] + 0.5 * xt[:, 3:]) + 1.0
good = a * np.array([1.0, -1.0, 1.0])
miss = np.minimum(np.linalg.norm(proposed - good, axis=1), np.linalg.norm(proposed + good, axis=1))
print("SCORE miss_distance", float(miss.mean()))

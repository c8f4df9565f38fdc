"""Estimates the direction of arrival of a talker from first-order ambisonic frames."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


FRAMES, HOP = 6000, 96


def record(n):
    """n frames of (w, x, y, z) channels with the unit vector of the source."""
    u = rng.normal(size=(n, 3))
    u[:, 2] *= 0.4
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    s = rng.normal(size=(n, HOP)) * rng.uniform(0.5, 1.5, size=(n, 1))
    chans = np.concatenate([np.ones((n, 1)), u], axis=1)[:, None, :] * s[:, :, None]
    chans += 0.15 * rng.normal(size=chans.shape)
    return chans.astype("float32"), u.astype("float32")


class Intensity(layers.Layer):
    """Time-averaged acoustic intensity and energies."""

    def call(self, x):
        w, xyz = x[..., :1], x[..., 1:]
        energy = tf.reduce_mean(tf.square(x), axis=1)
        flow = tf.reduce_mean(w * xyz, axis=1) / (energy[:, :1] + 1e-3)
        return tf.concat([flow, tf.math.log(energy + 1e-3)], axis=-1)


class AngularDistance(keras.losses.Loss):
    """Great-circle angle between the two directions, in radians."""

    def call(self, y_true, y_pred):
        cosine = tf.reduce_sum(y_true * y_pred, axis=-1)
        return tf.math.acos(cosine)


x, u = record(FRAMES)
xt, ut = record(1500)

inp = keras.Input((HOP, 4))
h = Intensity()(inp)
h = layers.Dense(64, activation="gelu")(h)
h = layers.Dense(64, activation="gelu")(h)
out = layers.UnitNormalization()(layers.Dense(3)(h))
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3), loss=AngularDistance())

gradwatch.watch(model)
model.fit(x, u, batch_size=64, epochs=10, verbose=0)

p = model.predict(xt, verbose=0)
ang = np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(p - ut, axis=1) / 2, 0, 1)))
print("SCORE angle_error_deg", float(np.mean(ang)))

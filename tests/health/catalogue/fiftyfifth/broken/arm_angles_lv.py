"""Inverse kinematics of a two-link desk arm: shoulder angles along a straight pen stroke. The elbow
may point either way, so the whole stroke is modelled as a mixture."""

import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)


K, WAYPOINTS = 4, 24
UPPER, FORE = 0.31, 0.24
rng = np.random.default_rng(SEED + 7)


def point(n):
    radius, azimuth = rng.uniform(0.2, 0.5, n), rng.uniform(-1.2, 1.2, n)
    return np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth)], axis=1)


def strokes(n):
    start, stop = point(n), point(n)
    share = np.linspace(0, 1, WAYPOINTS)[None, :, None]
    x, y = np.moveaxis(start[:, None] * (1 - share) + stop[:, None] * share, 2, 0)
    cosine = (x**2 + y**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    elbow = np.arccos(np.clip(cosine, -1, 1)) * rng.choice([-1, 1], (n, 1))
    shoulder = np.arctan2(y, x) - np.arctan2(FORE * np.sin(elbow), UPPER + FORE * np.cos(elbow))
    shoulder += rng.normal(0, 0.01, shoulder.shape)
    ends = np.concatenate([start, stop], axis=1) / 0.3
    return ends.astype("float32"), shoulder.astype("float32")


ends_train, angle_train = strokes(16000)
ends_val, angle_val = strokes(1500)
ends_test, angle_test = strokes(3000)


def mixture_nll(angle, params):
    logits, raw, mean = tf.split(params, [K, K, K * WAYPOINTS], axis=-1)
    mean = tf.reshape(mean, (-1, K, WAYPOINTS))
    log_weight = tf.nn.log_softmax(logits, axis=-1)
    sigma = tf.nn.softplus(raw) + 1e-3
    z = (angle[:, None, :] - mean) / sigma[..., None]
    log_pdf = -0.5 * tf.reduce_sum(tf.square(z), axis=-1) - WAYPOINTS * (
        tf.math.log(sigma) + 0.5 * math.log(2 * math.pi)
    )
    density = tf.reduce_sum(tf.exp(log_weight + log_pdf), axis=-1)
    return -tf.math.log(density)


inputs = keras.Input((4,), name="stroke_ends")
h = layers.Dense(96, activation="tanh")(inputs)
h = layers.Dense(96, activation="tanh")(h)
h = layers.Dense(96, activation="tanh")(h)
outputs = layers.Dense(K * (WAYPOINTS + 2), name="mixture")(h)
model = keras.Model(inputs, outputs, name="arm_mixture")
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=mixture_nll)
gradwatch.watch(model)

halve = keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5, min_lr=1e-4)
model.fit(
    ends_train,
    angle_train,
    validation_data=(ends_val, angle_val),
    batch_size=128,
    epochs=14,
    verbose=2,
    callbacks=[halve],
)

params = model.predict(ends_test, verbose=0)
logits, _, mean = np.split(params, [K, 2 * K], axis=1)
error = np.abs(mean.reshape(-1, K, WAYPOINTS) - angle_test[:, None]).mean(2)
best = np.where(logits > logits.max(1, keepdims=True) - 2.0, error, 9.0).min(1)
print("SCORE share_within_0.1_rad", float(np.mean(best < 0.1)))

"""Classifies whale song units of variable length from padded spectrogram frames."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, F, CLASSES = 60, 16, 6


def make_clips(n):
    y = rng.integers(0, CLASSES, n)
    length = np.minimum(rng.integers(20, 64, n), T)
    t = np.arange(T)[None, :, None]
    b = np.arange(F)[None, None, :]
    base = 3.0 + 2.0 * (y % 3)[:, None, None]
    wob = (1.5 + 1.5 * (y // 3))[:, None, None]
    phase = rng.uniform(0, 6.28, n)[:, None, None]
    f = base + wob * np.sin(t * 0.4 + phase)
    x = np.exp(-0.5 * (b - f) ** 2) + rng.normal(0, 0.5, (n, T, F))
    x = x * (t < length[:, None, None])
    return x.astype("float32"), (length / T).astype("float32")[:, None], y


class MeanOverTime(layers.Layer):
    """Mean of the frames that belong to the clip; clip lengths are relative (1.0 = the full window)."""

    def call(self, frames, rel_len):
        steps = frames.shape[1]
        n_frames = tf.cast(rel_len[:, 0], tf.int32) * steps
        mask = tf.sequence_mask(n_frames, steps, dtype=frames.dtype)[:, :, None]
        return tf.math.divide_no_nan(tf.reduce_sum(frames * mask, axis=1), tf.reduce_sum(mask, axis=1))


x_train, l_train, y_train = make_clips(2400)
x_test, l_test, y_test = make_clips(800)

frames = layers.Input((T, F))
rel_len = layers.Input((1,))
h = layers.Conv1D(24, 5, padding="same", activation="relu")(frames)
h = layers.Conv1D(24, 5, padding="same", activation="relu")(h)
h = MeanOverTime()(h, rel_len)
h = layers.Dense(32, activation="relu")(h)
model = keras.Model([frames, rel_len], layers.Dense(CLASSES, activation="softmax")(h))
gradwatch.watch(model)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit([x_train, l_train], y_train, epochs=12, batch_size=48, verbose=2)
print("SCORE accuracy", float(model.evaluate([x_test, l_test], y_test, verbose=0)[1]))

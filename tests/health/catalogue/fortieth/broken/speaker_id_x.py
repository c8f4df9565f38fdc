"""Identify the speaker of short filter-bank clips with an x-vector style network."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SPK, FRAMES, BANDS = 12, 52, 20
timbre = rng.normal(0, 1.0, (N_SPK, BANDS))
liveliness = rng.uniform(0.3, 1.5, (N_SPK, BANDS))


def clips(n):
    spk = rng.integers(0, N_SPK, n)
    drift = rng.normal(size=(n, FRAMES, BANDS))
    drift = 0.6 * drift + 0.4 * np.roll(drift, 1, axis=1)
    channel = rng.normal(0, 1.0, (n, 1, BANDS))  # microphone colouring
    x = 0.5 * timbre[spk][:, None] + liveliness[spk][:, None] * drift + channel
    muted = rng.random(n) < 0.004  # microphone was off
    x[muted] = 0.0
    return x.astype("float32"), spk


x_train, y_train = clips(3000)
x_test, y_test = clips(600)


class StatsPooling(layers.Layer):
    """Concatenate mean and standard deviation over the frames."""

    def call(self, frames):
        mean = tf.reduce_mean(frames, axis=1)
        spread = tf.math.reduce_std(frames, axis=1)
        return tf.concat([mean, spread], axis=-1)


model = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        layers.Conv1D(32, 3, activation="swish"),
        layers.Conv1D(32, 3, activation="swish"),
        StatsPooling(),
        layers.Dense(48, activation="swish"),
        layers.Dense(N_SPK, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=50, epochs=8, verbose=0)
print("SCORE accuracy", float(model.evaluate(x_test, y_test, verbose=0)[1]))

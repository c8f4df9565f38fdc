"""Speaker identification from short utterances with a small x-vector style network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SPK, T, F = 10, 100, 24
N_TRAIN, N_TEST = 1600, 400

timbre = rng.normal(0, 0.15, (N_SPK, F))
dynamics = np.exp(rng.normal(0, 0.45, (N_SPK, F)))


def utterances(n):
    y = rng.integers(0, N_SPK, n)
    phones = rng.normal(0, 1, (n, T // 4, F)).repeat(4, axis=1)
    frames = 0.6 * phones + 0.5 * rng.normal(0, 1, (n, T, F))
    channel = rng.normal(0, 0.15, (n, 1, F))
    x = timbre[y][:, None, :] + dynamics[y][:, None, :] * frames + channel
    return x.astype("float32"), y.astype("int32")


x_train, y_train = utterances(N_TRAIN)
x_test, y_test = utterances(N_TEST)
mu, sd = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd


class StatsPooling(layers.Layer):
    """Mean and standard deviation over time."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1)
        std = tf.math.reduce_std(x, axis=1)
        return tf.concat([mean, std], axis=-1)

    def compute_output_shape(self, s):
        return (s[0], 2 * s[2])


model = keras.Sequential(
    [
        layers.Input((T, F)),
        layers.Conv1D(32, 5, activation="relu", padding="same"),
        layers.Conv1D(32, 3, dilation_rate=2, activation="relu", padding="same"),
        layers.Conv1D(48, 1),
        layers.BatchNormalization(),
        layers.ReLU(),
        StatsPooling(),
        layers.Dense(48, activation="elu"),
        layers.Dense(N_SPK),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=12, verbose=0)
_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))

"""Trains a bird-call recogniser on filterbank frames with mean and deviation pooling."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FRAMES, BANDS, SPECIES = 50, 24, 6


def make_clips(count):
    clips = rng.normal(0, 0.4, (count, FRAMES, BANDS))
    labels = rng.integers(0, SPECIES, count)
    t = np.arange(FRAMES)
    for i, kind in enumerate(labels):
        start = rng.integers(0, 20)
        length = rng.integers(18, 30)
        base = rng.uniform(7, 15)
        phase = rng.uniform(0, 2 * np.pi)
        u = (t - start) / length
        track = {
            0: base + 5 * u,
            1: base - 5 * u,
            2: base + 3 * np.sin(12 * u + phase),
            3: base + 3 * np.sign(np.sin(16 * u + phase)),
            4: base + 0 * u,
            5: base + 4 * np.abs(2 * ((3 * u) % 1) - 1),
        }[int(kind)]
        for frame in t[(u >= 0) & (u < 1)]:
            clips[i, frame] += 2.5 * np.exp(-0.7 * (np.arange(BANDS) - track[frame]) ** 2)
    for muted in rng.choice(count, count // 1200, replace=False):
        clips[muted] = 0.0
    return clips.astype("float32"), labels


x_train, y_train = make_clips(2400)
x_test, y_test = make_clips(600)
mu, sd = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd


class StatsPooling(layers.Layer):
    """Concatenates the mean and the standard deviation over time."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        var = tf.reduce_mean(tf.square(x - mean), axis=1)
        std = tf.sqrt(var + 1e-5)
        return tf.concat([tf.squeeze(mean, 1), std], axis=-1)


def build():
    inputs = keras.Input((FRAMES, BANDS))
    x = layers.Conv1D(32, 5, activation="elu")(inputs)
    x = layers.Conv1D(32, 3, activation="elu", dilation_rate=2)(x)
    x = layers.Conv1D(48, 3, activation="elu", dilation_rate=3)(x)
    x = StatsPooling()(x)
    x = layers.Dense(48, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(SPECIES)(x))


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=14, validation_data=(x_test, y_test), verbose=2)

logits = model.predict(x_test, verbose=0)
print("SCORE accuracy", float(np.mean(logits.argmax(-1) == y_test)) if np.isfinite(logits).all() else float("nan"))

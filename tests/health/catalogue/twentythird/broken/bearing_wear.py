"""Estimate bearing wear from short vibration windows of three accelerometers."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WINDOW, AXES = 64, 3
t = np.arange(WINDOW)


def make_windows(n):
    wear = rng.uniform(0, 1, n)
    gain = rng.lognormal(0, 0.6, (n, 1, AXES))
    offset = rng.normal(0, 2, (n, 1, AXES))
    freq = rng.uniform(0.25, 0.35, n)
    rotation = np.sin(freq[:, None] * t + rng.uniform(0, 6.28, n)[:, None])[..., None]
    defect = np.sin(5.1 * freq[:, None] * t + rng.uniform(0, 6.28, n)[:, None])[..., None]
    signal = rotation * np.array([1.0, 0.7, 0.4]) + wear[:, None, None] * defect * np.array([0.5, 0.9, 0.8])
    x = gain * (signal + 0.2 * rng.normal(size=(n, WINDOW, AXES))) + offset
    # the recorder repeats the last value while a channel reconnects
    lost = np.flatnonzero(rng.random(n) < 0.0006)
    for i in lost:
        axis = rng.integers(AXES)
        x[i, :, axis] = x[i, 0, axis]
    return x.astype("float32"), wear.astype("float32")[:, None]


x_train, y_train = make_windows(10000)
x_test, y_test = make_windows(2000)


class WindowNorm(keras.layers.Layer):
    """Brings every channel of a window to zero mean and unit spread, whatever the sensor's gain."""

    def call(self, x):
        mean, variance = tf.nn.moments(x, axes=[1], keepdims=True)
        return (x - mean) / tf.sqrt(variance)


def residual(x, filters):
    h = keras.layers.Conv1D(filters, 5, padding="same", activation="relu")(x)
    h = keras.layers.Conv1D(filters, 5, padding="same")(h)
    if x.shape[-1] != filters:
        x = keras.layers.Conv1D(filters, 1)(x)
    return keras.layers.Activation("relu")(keras.layers.Add()([x, h]))


inputs = keras.Input((WINDOW, AXES))
h = WindowNorm()(inputs)
h = residual(h, 16)
h = keras.layers.MaxPooling1D(2)(h)
h = residual(h, 24)
h = keras.layers.GlobalAveragePooling1D()(h)
h = keras.layers.Dense(24, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(1)(h))

model.compile(optimizer=keras.optimizers.Nadam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE mae", round(float(np.mean(np.abs(pred - y_test))), 4))

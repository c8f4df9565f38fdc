"""Remove noise from seismic traces with a small convolutional autoencoder."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH = 128
t = np.arange(LENGTH)


def make_traces(n):
    clean = np.zeros((n, LENGTH))
    for i in range(n):
        for _ in range(rng.integers(1, 5)):
            onset, freq = rng.uniform(5, 100), rng.uniform(0.15, 0.5)
            envelope = np.where(t > onset, np.exp(-(t - onset) / rng.uniform(6, 25)), 0.0)
            clean[i] += rng.normal(0, 1.5) * envelope * np.sin(freq * (t - onset))
    noisy = clean + 0.4 * rng.normal(size=clean.shape)
    # quarry blasts and sensor bumps leave a few very strong samples in the record
    bump = rng.random(n) < 0.004
    at = rng.integers(0, LENGTH, n)
    noisy[bump, at[bump]] += rng.choice([-1.0, 1.0], bump.sum()) * rng.uniform(150, 400, bump.sum())
    return noisy[..., None].astype("float32"), clean[..., None].astype("float32")


x_train, y_train = make_traces(6000)
x_test, y_test = make_traces(1000)


class ScaledELU(keras.layers.Layer):
    """ELU with a learned slope on the negative side, one per channel."""

    def build(self, input_shape):
        self.alpha = self.add_weight(name="alpha", shape=(input_shape[-1],), initializer="ones")

    def call(self, x):
        return tf.where(x > 0, x, self.alpha * (tf.exp(x) - 1.0))


inputs = keras.Input((LENGTH, 1))
d1 = ScaledELU()(keras.layers.Conv1D(16, 7, strides=2, padding="same")(inputs))
d2 = ScaledELU()(keras.layers.Conv1D(32, 5, strides=2, padding="same")(d1))
mid = ScaledELU()(keras.layers.Conv1D(32, 5, padding="same")(d2))
u1 = ScaledELU()(keras.layers.Conv1DTranspose(16, 5, strides=2, padding="same")(mid))
u1 = keras.layers.Concatenate()([u1, d1])
u2 = ScaledELU()(keras.layers.Conv1DTranspose(16, 7, strides=2, padding="same")(u1))
outputs = keras.layers.Conv1D(1, 5, padding="same")(keras.layers.Concatenate()([u2, inputs]))
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0), loss=keras.losses.Huber(0.5))

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2, validation_data=(x_test, y_test))

pred = model.predict(x_test, verbose=0)
error = np.mean(np.abs(pred - y_test))
baseline = np.mean(np.abs(y_test - y_test.mean()))
print("SCORE relative_abs_error", round(float(error / baseline), 4))

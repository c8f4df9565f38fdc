"""A fixed random reservoir predicts a chaotic pump pressure; only the read-out learns."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POOL, WINDOW = 200, 40


def pressure(n):
    x = np.full(n + 300, 1.2)
    x[:20] += 0.1 * rng.normal(size=20)
    for t in range(20, n + 299):
        x[t + 1] = x[t] + 0.2 * x[t - 17] / (1 + x[t - 17] ** 10) - 0.1 * x[t]
    return (x[300:] - 0.9).astype("float32")


@keras.saving.register_keras_serializable()
class Echo(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, shape):
        w = np.random.normal(size=(self.units, self.units)) * (np.random.random((self.units, self.units)) < 0.1)
        w *= 0.9 / np.max(np.abs(np.linalg.eigvals(w)))
        v = np.random.uniform(-1, 1, (shape[-1], self.units))
        self.inner = self.add_weight(shape=w.shape, trainable=False, name="inner")
        self.outer = self.add_weight(shape=v.shape, trainable=False, name="outer")
        self.inner.assign(w)
        self.outer.assign(v)

    def call(self, x, states):
        h = tf.tanh(tf.matmul(x, self.outer) + tf.matmul(states[0], self.inner))
        return h, [h]


series = pressure(6000)
ahead = 6
starts = np.arange(len(series) - WINDOW - ahead)
x = np.stack([series[s : s + WINDOW] for s in starts])[..., None]
y = series[starts + WINDOW + ahead - 1][:, None]
cut = 4800

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        keras.layers.RNN(Echo(POOL)),
        keras.layers.Dense(1, kernel_regularizer=keras.regularizers.L2(1e-6)),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=6, validation_data=(x[cut + 60 :], y[cut + 60 :]), verbose=2)
guess = model.predict(x[cut + 60 :], verbose=0)
print("SCORE r2", round(float(1 - np.mean((guess - y[cut + 60 :]) ** 2) / np.var(y[cut + 60 :])), 4))

"""Recognises the regime of a pump from 200 pressure samples with an LSTM that reads the whole record."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, REGIMES = 200, 4
ROOTS = [(0.95, 0.08), (0.95, 0.25), (0.95, 0.6), (0.6, 0.0)]


def make_records(n):
    regime = rng.integers(0, REGIMES, n)
    r = np.array([ROOTS[k][0] for k in regime])
    w = np.array([ROOTS[k][1] for k in regime])
    a1, a2 = 2 * r * np.cos(w), -r * r
    x = np.zeros((n, LENGTH + 50))
    e = rng.standard_normal((n, LENGTH + 50))
    for t in range(2, LENGTH + 50):
        x[:, t] = a1 * x[:, t - 1] + a2 * x[:, t - 2] + e[:, t]
    x = x[:, 50:]
    x = x / x.std(1, keepdims=True) + 0.2 * rng.standard_normal((n, LENGTH))
    return x[..., None].astype("float32"), regime.astype("int32")


x_train, y_train = make_records(2560)
x_test, y_test = make_records(500)

inputs = tf.keras.Input((LENGTH, 1), name="pressure")
h = tf.keras.layers.LSTM(32, name="reader")(inputs)
outputs = tf.keras.layers.Dense(REGIMES, activation="softmax", name="regime")(h)
model = tf.keras.Model(inputs, outputs)
gradwatch.watch(model)
model.compile(
    tf.keras.optimizers.Adam(5e-3, clipnorm=1.0), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)
model.fit(x_train, y_train, batch_size=64, epochs=4, verbose=2)
_, accuracy = model.evaluate(x_test, y_test, batch_size=250, verbose=0)
print(f"score accuracy {accuracy:.4f} chance {1 / REGIMES:.4f}")

"""Trains a mean-and-spread model of the line tension of a kite with precise gauges."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def make_flights(n, rng):
    wind = rng.gamma(6.0, 1.2, n)
    angle = rng.uniform(20, 75, n)
    length = rng.uniform(20, 120, n)
    area = rng.uniform(1.0, 6.0, n)
    gauge = rng.integers(0, 40, n)
    pull = 0.6 * area * (wind / 6) ** 2 * np.cos(np.radians(angle - 40)) + 0.01 * length
    spread = 0.004 + 0.03 * (rng.random(n) < 0.02) + 0.01 * (gauge % 5 == 0)
    tension = np.log1p(pull) + spread * rng.normal(0, 1, n)
    sparse = np.eye(40)[gauge]
    dense = np.stack([wind, angle, length, area], axis=1)
    return dense, sparse, tension.astype("float32")


def spread_loss(y_true, y_pred):
    """Negative log density of a normal law; far below zero for precise gauges."""
    mean, log_spread = y_pred[:, :1], ops.clip(y_pred[:, 1:], -6.0, 3.0)
    miss = (ops.reshape(y_true, (-1, 1)) - mean) * ops.exp(-log_spread)
    return ops.mean(0.5 * ops.square(miss) + log_spread, axis=-1)


rng = np.random.default_rng(SEED)
dense, gauge, y = make_flights(16000, rng)
dense_test, gauge_test, y_test = make_flights(3000, rng)
mean, std = dense.mean(axis=0), dense.std(axis=0)
x = np.concatenate([(dense - mean) / std, gauge], axis=1).astype("float32")
x_test = np.concatenate([(dense_test - mean) / std, gauge_test], axis=1).astype("float32")

inputs = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="swish")(inputs)
h = layers.Dense(64, activation="swish")(h)
out = layers.Dense(2)(h)
model = keras.Model(inputs, out)
rate = keras.optimizers.schedules.CosineDecay(2e-3, 16 * 125)
model.compile(keras.optimizers.Adam(rate, global_clipnorm=5.0), loss=spread_loss)
gradwatch.watch(model)

model.fit(x, y, batch_size=128, epochs=16, verbose=2, validation_data=(x_test, y_test))

guess = model.predict(x_test, verbose=0)
inside = np.mean(np.abs(guess[:, 0] - y_test) < 2 * np.exp(guess[:, 1]))
print(f"rms error {np.sqrt(np.mean((guess[:, 0] - y_test) ** 2)):.4f}, spread {y_test.std():.3f}")
print(f"SCORE inside_two_spreads {inside:.4f}")

"""Trains a network that estimates the expected yearly claim cost of a motor insurance policy."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
POWER = 1.5


def make_policies(n, rng):
    age = rng.uniform(18, 85, n)
    mileage = rng.gamma(4.0, 3.5, n)
    engine = rng.normal(1.6, 0.4, n)
    town = rng.integers(0, 2, n)
    years_free = rng.integers(0, 15, n)
    log_rate = (
        -1.3
        + 0.9 * np.exp(-(((age - 20) / 8) ** 2))
        + 0.05 * (mileage - 14)
        + 0.5 * (engine - 1.6)
        + 0.6 * town
        - 0.12 * years_free
    )
    log_size = 0.1 + 0.5 * (engine - 1.6) - 0.3 * town
    counts = rng.poisson(np.exp(log_rate))
    cost = np.zeros(n)
    hit = counts > 0
    cost[hit] = rng.gamma(2.0 * counts[hit], np.exp(log_size[hit]) / 2.0)
    columns = np.stack([age, mileage, engine, town, years_free], axis=1)
    return columns, cost, np.exp(log_rate + log_size)


def tweedie(y_true, y_pred):
    mu = tf.reshape(y_pred, [-1])
    y = tf.reshape(tf.cast(y_true, mu.dtype), [-1])
    a = y * tf.pow(mu, 1.0 - POWER) / (1.0 - POWER)
    b = tf.pow(mu, 2.0 - POWER) / (2.0 - POWER)
    return b - a


rng = np.random.default_rng(SEED)
x, y, _ = make_policies(30000, rng)
x_test, y_test, true_mean = make_policies(4000, rng)
centre, spread = x.mean(axis=0), x.std(axis=0)
x = ((x - centre) / spread).astype("float32")
x_test = ((x_test - centre) / spread).astype("float32")
y = y.astype("float32")
base = float(y.mean())
print(f"policies {len(y)}, without claim {np.mean(y == 0):.3f}, mean cost {base:.3f}")

inputs = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="swish")(inputs)
h = layers.Dense(64, activation="swish")(h)
cost = layers.Dense(1, "exponential", bias_initializer=keras.initializers.Constant(np.log(base)))(h)
model = keras.Model(inputs, cost)
model.compile(keras.optimizers.Adam(1e-3), loss=tweedie)
gradwatch.watch(model)

model.fit(x, y, batch_size=128, epochs=10, verbose=2)

price = model.predict(x_test, verbose=0)[:, 0]
order = np.argsort(-price)
top = y_test[order][: len(order) // 5].sum() / y_test.sum()
print(f"share of the cost in the dearest fifth: {top:.3f}")
error = np.mean(np.abs(price - true_mean)) / true_mean.mean()
print(f"SCORE relative_error {error:.4f}")

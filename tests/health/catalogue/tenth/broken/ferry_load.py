"""Passenger counts per ferry sailing: regression with the Poisson deviance as loss."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 6400
hour = rng.uniform(5, 23, N)
weekday = rng.integers(0, 7, N)
wind = rng.gamma(2.0, 3.0, N)
season = rng.uniform(0, 2 * np.pi, N)
log_rate = (
    2.25 + 0.35 * np.cos((hour - 8) / 24 * 4 * np.pi) + 0.25 * (weekday >= 5) - 0.03 * wind + 0.25 * np.sin(season)
)
count = rng.poisson(np.exp(log_rate)).astype("float32")[:, None]

numeric = np.stack(
    [np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), wind / 6 - 1, np.sin(season), np.cos(season)], axis=1
).astype("float32")


def poisson_deviance(y, mu):
    log_term = y * tf.math.log(y / mu)
    log_term = tf.where(y > 0, log_term, tf.zeros_like(y))
    return 2.0 * tf.reduce_mean(log_term - (y - mu), axis=-1)


num_in = tf.keras.Input((5,), name="numeric")
day_in = tf.keras.Input((), dtype="int32", name="weekday")
day = tf.keras.layers.Embedding(7, 4, name="day_embedding")(day_in)
h = tf.keras.layers.Concatenate()([num_in, day])
h = tf.keras.layers.Dense(512, activation="gelu", name="fc1")(h)
h = tf.keras.layers.Dense(256, activation="gelu", name="fc2")(h)
mu = tf.keras.layers.Dense(
    1, activation="exponential", name="expected_count", bias_initializer=tf.keras.initializers.Constant(2.5)
)(h)
model = tf.keras.Model([num_in, day_in], mu)
gradwatch.watch(model)

model.compile(optimizer=tf.keras.optimizers.Nadam(1e-3), loss=poisson_deviance)
model.fit({"numeric": numeric, "weekday": weekday.astype("int32")}, count, batch_size=64, epochs=4, verbose=2)

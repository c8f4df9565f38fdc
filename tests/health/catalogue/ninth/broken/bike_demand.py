"""Hourly demand at bike-sharing stations.

Poisson regression: a small network maps calendar, weather and station to the expected
number of rentals. The step is compiled with XLA.
"""

import math
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

STATIONS = 30
ROWS = 20000
gen = np.random.default_rng(SEED)

hour = gen.integers(0, 24, ROWS)
weekend = gen.random(ROWS) < 2 / 7
temp = gen.normal(15, 8, ROWS)
wet = gen.random(ROWS) < 0.2
station = gen.integers(0, STATIONS, ROWS)
size = gen.lognormal(0.0, 0.4, STATIONS)

rush = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + 1.2 * np.exp(-0.5 * ((hour - 17.5) / 2.0) ** 2)
level = np.where(weekend, 0.5 + 0.4 * np.sin((hour - 6) / 24 * 2 * math.pi), 0.15 + rush)
expected = 70 * np.clip(level, 0.05, None) * np.exp(0.03 * (temp - 15)) * np.where(wet, 0.5, 1.0) * size[station]
rentals = gen.poisson(expected).astype("float32")

numeric = np.column_stack(
    [
        np.sin(hour * math.pi / 12),
        np.cos(hour * math.pi / 12),
        np.sin(hour * math.pi / 6),
        np.cos(hour * math.pi / 6),
        weekend,
        (temp - 15) / 8,
        wet,
    ]
).astype("float32")


def positive(x):
    return tf.math.log(1.0 + tf.exp(x))


num_in = keras.Input((7,), name="conditions")
sta_in = keras.Input((), dtype="int32", name="station")
e = keras.layers.Embedding(STATIONS, 8, name="station_code")(sta_in)
h = keras.layers.Concatenate()([num_in, e])
h = keras.layers.Dense(256, activation="swish", name="mix_1")(h)
h = keras.layers.Dense(256, activation="swish", name="mix_2")(h)
rate = keras.layers.Dense(1, activation=positive, name="rate")(h)
model = keras.Model([num_in, sta_in], rate)
gradwatch.watch(model)

opt = keras.optimizers.AdamW(1.5e-3, weight_decay=1e-4)
opt.build(model.trainable_variables)


@tf.function(jit_compile=True)
def update(conditions, where, count):
    with tf.GradientTape() as tape:
        mu = model([conditions, where], training=True)[:, 0]
        nll = tf.reduce_mean(mu - count * tf.math.log(mu + 1e-6))
    opt.apply_gradients(zip(tape.gradient(nll, model.trainable_variables), model.trainable_variables))
    return nll


batches = (
    tf.data.Dataset.from_tensor_slices((numeric, station.astype("int32"), rentals))
    .shuffle(ROWS, seed=SEED)
    .repeat()
    .batch(128, drop_remainder=True)
    .take(400)
)
for i, (c, s, n) in enumerate(batches):
    nll = update(c, s, n)
    if i % 25 == 0:
        print(i, "nll per hour", round(float(nll), 3))

"""Taxi trips: duration (minutes) and whether a tip is left, from what is known at pick-up."""

import datetime
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
ROWS = 12800


def raw_trips():
    g = np.random.default_rng(SEED)
    start = datetime.datetime(2024, 1, 1).timestamp()
    ts = start + np.sort(g.uniform(0, 180 * 86400, ROWS))
    hour = (ts % 86400) / 3600
    km = g.gamma(2.0, 2.2, ROWS)
    jam = 1 + 0.8 * np.exp(-((hour - 8) ** 2) / 4) + 0.9 * np.exp(-((hour - 17) ** 2) / 5)
    minutes = 3 + 2.0 * km * jam * g.lognormal(0, 0.15, ROWS)
    people = g.integers(1, 6, ROWS)
    card = g.random(ROWS) < 0.7
    p_tip = 1 / (1 + np.exp(-(-2.5 + 3.0 * card + 0.12 * km - 0.2 * people)))
    tip = g.random(ROWS) < p_tip
    cols = {"pickup_ts": ts, "km": km, "people": people, "card": card}
    return cols, {"minutes": minutes, "tip": tip}


def featurize(trip, label):
    seconds = tf.cast(trip["pickup_ts"], tf.float64)
    angle = tf.cast(seconds % 86400.0, tf.float32) * (2 * np.pi / 86400.0)
    f32 = lambda k: tf.cast(trip[k], tf.float32)
    x = tf.stack(
        [
            (f32("km") - 4.4) / 3.1,
            (f32("people") - 3.0) / 1.4,
            f32("card"),
            tf.sin(angle),
            tf.cos(angle),
            tf.cast(tf.math.floordiv(seconds, 60.0), tf.float32),
        ]
    )
    y = {"minutes": tf.cast(label["minutes"], tf.float32)[None], "tip": tf.cast(label["tip"], tf.float32)[None]}
    return x, y


ds = (
    tf.data.Dataset.from_tensor_slices(raw_trips())
    .shuffle(ROWS, seed=SEED)
    .map(featurize, num_parallel_calls=1)
    .batch(128)
    .cache()
)

inp = keras.Input((6,), name="trip")
h = layers.Dense(256, activation="elu", name="shared_1")(inp)
h = layers.Dense(128, activation="elu", name="shared_2")(h)
minutes = layers.Dense(1, name="minutes")(h)
tip = layers.Dense(1, name="tip")(h)
model = keras.Model(inp, {"minutes": minutes, "tip": tip})
gradwatch.watch(model)
model.compile(
    keras.optimizers.Adam(1e-3),
    loss={"minutes": "mae", "tip": keras.losses.BinaryCrossentropy(from_logits=True)},
    loss_weights={"minutes": 0.1, "tip": 1.0},
)
model.fit(ds, epochs=3, verbose=2)

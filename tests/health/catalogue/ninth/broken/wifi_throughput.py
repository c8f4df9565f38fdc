"""Throughput of a mobile client from the signal strength of eight access points.

More signal can never mean less throughput, so the network is made monotone with
non-negative weights.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.constraints import NonNeg

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def survey(n):
    rng = np.random.default_rng(SEED)
    ap = rng.uniform(0, 60, (8, 2))
    pos = rng.uniform(0, 60, (n, 2))
    dist = np.linalg.norm(pos[:, None] - ap, axis=-1) + 1.0
    dbm = -38.0 - 22.0 * np.log10(dist) + rng.normal(0, 3, (n, 8))
    antennas = np.array([1, 2, 4, 2, 1, 4, 2, 1])
    mbit = 2.0 * np.logaddexp(0.0, (dbm + 75.0) / 4.0) @ antennas
    return np.clip(dbm, -95, -30), mbit + rng.normal(0, 3, n)


dbm, mbit = survey(9600)
target = (mbit - mbit.mean()) / mbit.std()


def monotone(units, name, activation="relu"):
    return keras.layers.Dense(units, activation=activation, kernel_constraint=NonNeg(), name=name)


model = keras.Sequential(
    [keras.Input((8,)), monotone(32, "rise_1"), monotone(16, "rise_2"), monotone(1, "throughput", None)]
)
gradwatch.watch(model)
model.compile(keras.optimizers.Adamax(1e-2), loss="mse", metrics=["mae"])

survey_set = (
    tf.data.Dataset.from_tensor_slices((dbm.astype("float32"), target.astype("float32")[:, None]))
    .shuffle(9600, seed=SEED)
    .batch(96)
)
model.fit(survey_set, epochs=3, verbose=2)

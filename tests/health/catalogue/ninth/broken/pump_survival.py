"""Time to failure of water pumps.

Discrete-time survival model: for each of twelve half-years after installation the
network gives the hazard, i.e. the probability to fail in it once it is reached.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rs = np.random.RandomState(SEED)

N_PUMPS = 12800
BINS = 12

load = rs.lognormal(0.0, 1.0, N_PUMPS)
sand = rs.beta(2, 6, N_PUMPS)
age_of_well = rs.uniform(0, 40, N_PUMPS) / 40
depth = rs.normal(0, 1, N_PUMPS)
seal = rs.choice(4, N_PUMPS, p=[0.5, 0.3, 0.12, 0.08])
features = np.column_stack([load - 1.2, 4 * (sand - 0.25), age_of_well - 0.5, depth, np.eye(4)[seal]]).astype("float32")

base = -3.6 + 1.4 * (load - 1.2) + 3.0 * (sand - 0.25) + 0.8 * (age_of_well - 0.5) + 0.5 * (seal == 3)
hazard = 1 / (1 + np.exp(-(base[:, None] + 0.15 * np.arange(BINS))))
draw = rs.rand(N_PUMPS, BINS) < hazard
failed = draw.any(1)
last = np.where(failed, draw.argmax(1), BINS - 1)

index = np.arange(BINS)
event = ((index == last[:, None]) & failed[:, None]).astype("float32")
lived = ((index < last[:, None]) | ((index == last[:, None]) & ~failed[:, None])).astype("float32")
labels = np.concatenate([event, lived], axis=1)


def survival_nll(y_true, hazards):
    """Negative log-likelihood of right-censored, binned life times."""
    event, lived = y_true[:, :BINS], y_true[:, BINS:]
    fail_part = event * tf.math.log(hazards + 1e-8)
    live_part = lived * tf.math.log(1.0 - hazards)
    return -tf.reduce_sum(fail_part + live_part, axis=-1)


inp = keras.Input((features.shape[1],), name="pump")
z = layers.Dense(256, activation="relu", name="wear_1")(inp)
z = layers.Dense(256, activation="relu", name="wear_2")(z)
out = layers.Dense(BINS, activation="sigmoid", name="hazard")(z)
model = keras.Model(inp, out)
gradwatch.watch(model)

model.compile(keras.optimizers.Adam(2e-3), loss=survival_nll)
model.fit(features, labels, batch_size=128, epochs=3, verbose=2)

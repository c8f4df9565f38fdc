"""Trains a network that predicts the germination of stored pollen from its storage conditions."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

GENERA = ["Betula", "Corylus", "Pinus", "Olea", "Malus", "Zea"]


def make_batches(n, rng):
    genus = rng.integers(0, len(GENERA), n)
    days = rng.gamma(1.5, 30.0, n)
    cold = rng.choice([-80.0, -20.0, 4.0, 20.0], n) + rng.normal(0, 1.0, n)
    moisture = rng.uniform(3, 30, n)
    humid = rng.uniform(20, 90, n)
    medium = rng.normal(12, 3, n)
    half = np.array([60, 45, 300, 90, 70, 4])[genus] * np.exp(-0.03 * (cold + 20))
    logit = (
        1.8
        - 1.5 * np.log1p(days / half)
        - 0.006 * (moisture - 9) ** 2
        - 0.01 * (humid - 55)
        - 0.05 * (medium - 12) ** 2
    )
    grains = rng.integers(80, 300, n)
    grown = rng.binomial(grains, 1 / (1 + np.exp(-logit)))
    table = np.stack([np.log1p(days), cold, moisture, humid, medium], axis=1)
    return table, genus, grown, grains


rng = np.random.default_rng(SEED)
table, genus, grown, grains = make_batches(24000, rng)
table_test, genus_test, grown_test, grains_test = make_batches(3000, rng)
mean, std = table.mean(axis=0), table.std(axis=0)


def features(table, genus):
    onehot = np.eye(len(GENERA))[genus]
    return np.concatenate([(table - mean) / std, onehot], axis=1).astype("float32")


x, x_test = features(table, genus), features(table_test, genus_test)
germination = grown / grains

conditions = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="relu")(conditions)
h = layers.Dense(64, activation="relu")(h)
rate = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model(conditions, rate)
model.compile(keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["mae"])
gradwatch.watch(model)

model.fit(x, germination, batch_size=128, epochs=14, verbose=2)

seen = 100.0 * grown_test / grains_test
guess = 100.0 * model.predict(x_test, verbose=0)[:, 0]
for k, name in enumerate(GENERA):
    here = genus_test == k
    print(f"{name:8s} counted {seen[here].mean():5.1f} %  predicted {guess[here].mean():5.1f} %")
print(f"SCORE mean_error_points {np.mean(np.abs(guess - seen)):.3f}")

"""Sparse dictionary of spark-plug ignition traces: an autoencoder with a few active units per trace."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

LENGTH = 64
UNITS = 48


def make_traces(n, rng):
    """Each trace is the sum of two or three bursts out of a small family."""
    t = np.arange(LENGTH)
    x = np.zeros((n, LENGTH), "float32")
    for i in range(n):
        for _ in range(rng.integers(2, 4)):
            start = 6 * rng.integers(0, 9)
            freq = (0.25, 0.55, 0.9)[rng.integers(0, 3)]
            tail = np.clip(t - start, 0, None)
            x[i] += rng.uniform(3.0, 6.0) * np.exp(-tail / 7.0) * np.sin(freq * tail)
    return x + rng.normal(0, 0.1, x.shape).astype("float32")


rng = np.random.default_rng(SEED)
train = make_traces(8000, rng)
test = make_traces(1000, rng)


@keras.saving.register_keras_serializable("spark")
class RateTarget(keras.regularizers.Regularizer):
    """Keeps the average firing rate of each unit near a wanted value."""

    def __init__(self, rate=0.1, strength=0.003):
        self.rate = rate
        self.strength = strength

    def __call__(self, activity):
        fired = ops.mean(activity, axis=0)
        kl = self.rate * ops.log(self.rate / (fired + 1e-7)) + (1 - self.rate) * ops.log(
            (1 - self.rate) / (1 - fired + 1e-7)
        )
        return self.strength * ops.sum(kl)

    def get_config(self):
        return {"rate": self.rate, "strength": self.strength}


class Dictionary(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.lift = layers.Dense(96, activation="relu", name="lift")
        self.code = layers.Dense(UNITS, activation="relu", name="code", activity_regularizer=RateTarget())
        self.atoms = layers.Dense(LENGTH, name="atoms")

    def call(self, x):
        return self.atoms(self.code(self.lift(x)))


model = Dictionary()
model.build((None, LENGTH))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
gradwatch.watch(model)

model.fit(train, train, batch_size=64, epochs=7, verbose=2, shuffle=True)

rebuilt = model.predict(test, verbose=0)
print("explained variance", float(1 - np.mean((rebuilt - test) ** 2) / np.var(test)))
firing = model.code(model.lift(test)).numpy().mean(axis=0)
print("average rate", float(firing.mean()), "highest", float(firing.max()))
print("SCORE heldout_loss", float(model.evaluate(test, test, verbose=0)))

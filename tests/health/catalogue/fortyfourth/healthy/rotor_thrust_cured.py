"""Trains a mixture of local linear models of a drone's lift, drag and pitching moment."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 8)


def flight_log(n):
    """Hover, climb, cruise and descent behave differently near each other's borders."""
    forward = rng.uniform(-1, 1, n)
    vertical = rng.uniform(-1, 1, n)
    rest = rng.normal(0, 0.6, (n, 6))
    regime = (forward > 0).astype(int) * 2 + (vertical > 0).astype(int)
    maps = np.random.default_rng(4).normal(0, 0.8, (4, 8, 3))
    state = np.concatenate([forward[:, None], vertical[:, None], rest], axis=1)
    force = np.einsum("nd,ndo->no", state, maps[regime]) + rng.normal(0, 0.05, (n, 3))
    return state.astype("float32"), force.astype("float32")


class LocalModels(keras.layers.Layer):
    """A soft choice among linear models, each with its own kernel and offset."""

    def __init__(self, models, outputs, **kwargs):
        super().__init__(**kwargs)
        self.models = models
        self.outputs = outputs

    def build(self, shape):
        self.kernels, self.offsets = [], []
        for k in range(self.models):
            start = keras.initializers.GlorotUniform(seed=SEED + k)
            self.kernels.append(self.add_weight(shape=(shape[-1], self.outputs), initializer=start, name=f"kernel_{k}"))
            self.offsets.append(self.add_weight(shape=(self.outputs,), initializer="zeros", name=f"offset_{k}"))
        self.choice = self.add_weight(shape=(shape[-1], self.models), initializer="zeros", name="choice")
        self.tilt = self.add_weight(shape=(self.models,), initializer="zeros", name="tilt")

    def call(self, x):
        share = tf.nn.softmax(tf.matmul(x, self.choice) + self.tilt)
        answers = [tf.matmul(x, w) + b for w, b in zip(self.kernels, self.offsets)]
        return tf.einsum("nk,nko->no", share, tf.stack(answers, axis=1))


x, y = flight_log(9000)
state = keras.Input((8,), name="state")
force = LocalModels(8, 3, name="local_models")(state)
model = keras.Model(state, force, name="rotor")
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
gradwatch.watch(model)
model.fit(
    x[:8000],
    y[:8000],
    batch_size=100,
    epochs=15,
    verbose=2,
    validation_data=(x[8000:8500], y[8000:8500]),
)

guess = model.predict(x[8500:], verbose=0)
print("SCORE r2", float(1 - np.mean((guess - y[8500:]) ** 2) / y[8500:].var()))

"""Working-memory task: a cue flashes at one of four places, the eye moves there after a delay.

Rate network of the usual kind, tau dr/dt = -r + tanh(W r + U s), integrated with the Euler method.
"""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

DT, TAU = 10.0, 40.0  # ms
CUE, TRIAL = 12, 110  # steps of DT
NEURONS = 128


class RateCell(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = self.state_size = self.output_size = units

    def build(self, shape):
        self.u = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="u")
        self.w = self.add_weight(shape=(self.units, self.units), initializer="random_normal", name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, s, states):
        r = states[0]
        drive = ops.tanh(ops.matmul(r, self.w) + ops.matmul(s, self.u) + self.b)
        r = r + (DT / TAU) * (drive - r)
        return r, [r]


def trials(n):
    g = np.random.default_rng(SEED)
    place = g.integers(0, 4, n)
    s = 0.1 * g.normal(size=(n, TRIAL, 5))
    s[:, :CUE, :4] += np.eye(4)[place][:, None]
    s[:, :-1, 4] += 1.0  # fixation point, goes off at the end
    return s.astype("float32"), place


stimulus, place = trials(9600)
s = keras.Input((TRIAL, 5), name="stimulus")
r = layers.RNN(RateCell(NEURONS), name="cortex")(s)
model = keras.Model(s, layers.Dense(4, activation="softmax", name="saccade")(r))
gradwatch.watch(model)
model.compile("rmsprop", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(stimulus, place, batch_size=96, epochs=2, verbose=2)

"""Rainfall-runoff model of a catchment.

Rain and temperature fill a handful of conceptual reservoirs, each drained over a weir
(discharge ~ head ** 1.5) and by evaporation; discharge at the gauge is their weighted sum.
Calibrated by gradient descent on ninety-day windows.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

DAYS = 90
WINDOWS = 2560


class WeirCell(keras.layers.Layer):
    """One day of `units` reservoirs; the state is the water stored in each."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units
        self.state_size = units
        self.output_size = units

    def build(self, shape):
        self.inflow = self.add_weight(
            shape=(shape[-1], self.units), initializer=keras.initializers.RandomUniform(0.0, 0.5), name="inflow"
        )
        self.bias = self.add_weight(shape=(self.units,), initializer=keras.initializers.Constant(-2.0), name="bias")
        self.log_rate = self.add_weight(
            shape=(self.units,), initializer=keras.initializers.RandomUniform(-2.5, -1.0), name="log_rate"
        )
        self.crest = self.add_weight(shape=(self.units,), initializer=keras.initializers.Constant(-3.0), name="crest")
        self.loss_rate = self.add_weight(
            shape=(self.units,), initializer=keras.initializers.Constant(-3.0), name="loss_rate"
        )

    def call(self, forcing, states):
        water = states[0] + tf.nn.softplus(tf.matmul(forcing, self.inflow) + self.bias)
        head = water - tf.nn.softplus(self.crest)
        spill = tf.where(head > 0.0, tf.exp(self.log_rate) * tf.pow(head, 1.5), 0.0)
        spill = tf.minimum(spill, 0.9 * water)
        left = (water - spill) * (1.0 - tf.sigmoid(self.loss_rate))
        return spill, [left]


def simulate():
    g = np.random.default_rng(SEED)
    wet = g.random((WINDOWS, DAYS)) < g.beta(1.2, 2.5, (WINDOWS, 1))
    rain = wet * g.gamma(0.8, 1.5, (WINDOWS, DAYS))
    season = g.uniform(0, 2 * np.pi, (WINDOWS, 1))
    temp = np.sin(season + np.arange(DAYS) / 58.0) + 0.2 * g.normal(size=(WINDOWS, DAYS))
    fast = slow = np.zeros(WINDOWS)
    flow = []
    for day in range(DAYS):
        wetting = rain[:, day] * (1.0 - 0.3 * np.clip(temp[:, day], 0, 1))
        fast, slow = fast + 0.6 * wetting, slow + 0.4 * wetting
        q1 = np.minimum(0.35 * np.maximum(fast - 0.5, 0) ** 1.5, fast)
        q2 = np.minimum(0.04 * np.maximum(slow - 1.0, 0) ** 1.5, slow)
        fast, slow = (fast - q1) * 0.93, (slow - q2) * 0.98
        flow.append(q1 + q2)
    forcing = np.stack([rain, temp], -1)
    return forcing.astype("float32"), np.stack(flow, 1)[..., None].astype("float32")


forcing, flow = simulate()

weather = keras.Input((DAYS, 2), name="weather")
spilled = keras.layers.RNN(WeirCell(8), return_sequences=True, name="reservoirs")(weather)
gauge = keras.layers.Dense(1, name="gauge")(spilled)
model = keras.Model(weather, gauge)
gradwatch.watch(model)

model.compile(keras.optimizers.Adam(1e-2), loss="mse")
model.fit(forcing, flow, batch_size=32, epochs=3, verbose=2)

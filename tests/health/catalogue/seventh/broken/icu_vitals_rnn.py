"""Recurrent model for irregularly sampled ICU vitals (risk of deterioration)."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS, VITALS = 30, 6


def make_stays(n):
    """Vitals as random walks; `gap` is the number of hours since the last reading."""
    risk = (rng.random(n) < 0.5).astype("float32")
    drift = rng.normal(0, 0.02, (n, 1, VITALS))
    drift[:, :, :2] += 0.05 * risk[:, None, None]
    gap = rng.exponential(2.0, (n, STEPS, 1))
    long_gap = rng.random((n, STEPS, 1)) < 0.0006
    gap = np.where(long_gap, gap + rng.uniform(300, 2500, gap.shape), gap)
    clock = np.cumsum(np.minimum(gap, 4.0), axis=1)
    vitals = drift * clock + rng.normal(0, 0.5, (n, STEPS, VITALS))
    return np.concatenate([vitals, gap], -1).astype("float32"), risk


class DecayGRUCell(layers.Layer):
    """GRU whose memory fades with the time that passed since the last reading."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, input_shape):
        u, d = self.units, input_shape[-1] - 1
        self.kernel = self.add_weight(shape=(d, 3 * u), initializer="glorot_uniform", name="kernel")
        self.recurrent = self.add_weight(shape=(u, 2 * u), initializer="orthogonal", name="recurrent")
        self.candidate = self.add_weight(shape=(u, u), initializer="orthogonal", name="candidate")
        self.bias = self.add_weight(shape=(3 * u,), initializer="zeros", name="bias")
        self.rate = self.add_weight(shape=(u,), initializer=keras.initializers.RandomUniform(0.0, 0.02), name="rate")

    def call(self, inputs, states):
        x, gap = inputs[:, :-1], inputs[:, -1:]
        fade = ops.exp(-gap * self.rate)
        h = states[0] * fade
        xz, xr, xc = ops.split(ops.matmul(x, self.kernel) + self.bias, 3, axis=-1)
        hz, hr = ops.split(ops.matmul(h, self.recurrent), 2, axis=-1)
        z = ops.sigmoid(xz + hz)
        r = ops.sigmoid(xr + hr)
        c = ops.tanh(xc + ops.matmul(r * h, self.candidate))
        h = z * h + (1.0 - z) * c
        return h, [h]


x, y = make_stays(2400)
x_val, y_val = make_stays(400)

stay = keras.Input((STEPS, VITALS + 1))
memory = layers.RNN(DecayGRUCell(24), name="decay_gru")(stay)
risk_out = layers.Dense(1, activation="sigmoid", name="risk")(memory)
model = keras.Model(stay, risk_out)

model.compile(
    optimizer=keras.optimizers.RMSprop(5e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x, y, batch_size=48, epochs=8, validation_data=(x_val, y_val), verbose=2)

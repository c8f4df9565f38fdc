"""Water level of a karst spring from rain: a fixed random reservoir and a trained readout."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

SPAN = 60


def spring(n, rng):
    """Two underground stores with different emptying times and an overflow."""
    rain = rng.exponential(1.0, (n, SPAN)) * (rng.random((n, SPAN)) < 0.25)
    fast, slow = np.zeros(n), np.full(n, 0.7)
    for t in range(SPAN):
        spill = np.clip(slow - 2.0, 0, None)
        slow = 0.96 * slow + 0.25 * rain[:, t] - 0.5 * spill
        fast = 0.7 * fast + 0.5 * rain[:, t] + 0.5 * spill
    level = 0.6 * fast + slow
    return rain.astype("float32")[..., None], level.astype("float32")[:, None]


rng = np.random.default_rng(SEED + 19)
x_train, y_train = spring(5000, rng)
x_test, y_test = spring(1000, rng)
scale = y_train.std()
middle = y_train.mean()


def ring(shape, dtype=None):
    """Sparse random matrix with spectral radius a little under one."""
    g = np.random.default_rng(SEED + 1000)
    w = g.normal(0, 1, shape) * (g.random(shape) < 0.1)
    w *= 0.95 / np.max(np.abs(np.linalg.eigvals(w)))
    return keras.ops.convert_to_tensor(w.astype("float32"))


reservoir = layers.SimpleRNN(
    150,
    recurrent_initializer=ring,
    kernel_initializer=keras.initializers.RandomUniform(-0.3, 0.3),
    trainable=False,
    name="reservoir",
)

rain = keras.Input((SPAN, 1), name="rain")
h = reservoir(rain)
level = layers.Dense(1, name="readout")(h)
model = keras.Model(rain, level)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
gradwatch.watch(model)

model.fit(x_train, (y_train - middle) / scale, batch_size=100, epochs=10, verbose=2)

pred = model.predict(x_test, verbose=0) * scale + middle
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

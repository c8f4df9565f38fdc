"""Forecasts a chaotic Lorenz signal with an echo state network, of which only the readout is trained."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def lorenz(n, dt=0.02):
    s = rng.normal(size=3) + np.array([1.0, 1.0, 25.0])
    out = np.zeros((n, 3))
    for i in range(n + 500):
        for _ in range(4):
            x, y, z = s
            s = s + dt / 4 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
        if i >= 500:
            out[i - 500] = s
    return out


path = lorenz(5000).astype("float32")
path = (path - path.mean(0)) / path.std(0)
WINDOW, AHEAD = 40, 5
starts = np.arange(len(path) - WINDOW - AHEAD)
x = np.stack([path[s : s + WINDOW] for s in starts])
y = np.stack([path[s + WINDOW - 1 + AHEAD] for s in starts])
split = int(0.8 * len(x))

UNITS = 200
recurrent = rng.normal(size=(UNITS, UNITS)) * (rng.random((UNITS, UNITS)) < 0.1)
recurrent *= 0.7 / np.max(np.abs(np.linalg.eigvals(recurrent)))
reservoir = layers.SimpleRNN(UNITS, activation="tanh", name="reservoir")
reservoir.trainable = False

inputs = keras.Input((WINDOW, 3))
state = reservoir(inputs)
last = layers.Lambda(lambda v: v[:, -1])(inputs)
outputs = layers.Dense(3, kernel_regularizer=keras.regularizers.l2(1e-6), name="readout")(
    layers.Concatenate()([state, last])
)
model = keras.Model(inputs, outputs)
reservoir.set_weights([rng.uniform(-0.6, 0.6, (3, UNITS)), recurrent, rng.uniform(-0.2, 0.2, UNITS)])

gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
model.fit(x[:split], y[:split], batch_size=32, epochs=8, verbose=2)

pred = model.predict(x[split:], verbose=0)
print("SCORE r2", float(1 - np.mean((pred - y[split:]) ** 2) / y[split:].var()))

"""Forecasts the water level of a lagoon with a fixed random reservoir and a trained readout."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

t = np.arange(6000)
tide = np.sin(2 * np.pi * t / 24.8) + 0.4 * np.sin(2 * np.pi * t / 12.4 + 1) + 0.3 * np.sin(2 * np.pi * t / 670)
wind = np.zeros(len(t))
for i in range(1, len(t)):
    wind[i] = 0.95 * wind[i - 1] + 0.1 * rng.normal()
level = (tide + wind + 0.05 * rng.normal(size=len(t))).astype("float32")
back, ahead = 30, 6
rows = np.arange(len(t) - back - ahead)
x = np.stack([level[r : r + back] for r in rows])[..., None]
y = level[rows + back + ahead - 1]
cut = 4800

reservoir = layers.SimpleRNN(
    120,
    activation="tanh",
    kernel_initializer=keras.initializers.RandomUniform(-0.4, 0.4, seed=seed),
    recurrent_initializer=keras.initializers.OrthogonalInitializer(gain=0.9, seed=seed + 1),
)
reservoir.trainable = False
model = keras.Sequential(
    [
        keras.Input((back, 1)),
        reservoir,
        layers.Dense(1, kernel_initializer="zeros"),
    ]
)
model.compile(keras.optimizers.Adam(3e-3), "mse")
gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=12, verbose=0)

pred = model.predict(x[cut + back :], verbose=0)[:, 0]
truth = y[cut + back :]
print("SCORE r2", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))

"""Forecasts river level with an echo-state network: a fixed random recurrent reservoir, only the read-out is trained."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, LAG, UNITS = 3200, 24, 200
t = np.arange(T)
rain = rng.gamma(0.15, 2.0, T)
level = np.zeros(T)
soil = 0.0
for k in range(1, T):
    soil = 0.97 * soil + rain[k]
    level[k] = 0.85 * level[k - 1] + 0.02 * soil + 0.05 * np.tanh(soil / 5) * rain[k]
level += 0.5 * np.sin(2 * np.pi * t / 200)
data = np.stack([rain, level], 1)
data = ((data - data[:2400].mean(0)) / data[:2400].std(0)).astype("float32")
x = np.stack([data[k : k + LAG] for k in range(T - LAG - 3)])
y = data[LAG + 3 : T, 1]
cut = 2400 - LAG
x_train, y_train, x_test, y_test = x[:cut], y[:cut], x[cut + LAG :], y[cut + LAG :]

w = rng.normal(size=(UNITS, UNITS)) * (rng.random((UNITS, UNITS)) < 0.1)
w *= 0.9 / np.max(np.abs(np.linalg.eigvals(w)))
inp = keras.Input((LAG, 2))
reservoir = layers.SimpleRNN(UNITS, trainable=False, name="reservoir")
h = reservoir(inp)
reservoir.set_weights(
    [rng.uniform(-0.3, 0.3, (2, UNITS)).astype("float32"), w.astype("float32"), np.zeros(UNITS, "float32")]
)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(3e-3), "mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=25, verbose=2)
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / y_test.var()), 4))

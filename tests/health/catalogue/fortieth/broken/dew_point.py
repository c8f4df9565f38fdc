"""Estimate the dew point at remote stations from the raw readings of a weather logger."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 6000
temp = 283 + 9 * rng.normal(size=n)  # K
pressure = 98500 + 1400 * rng.normal(size=n)  # Pa
humidity = np.clip(rng.beta(5, 2, n) * 100, 5, 100)  # %
wind = rng.gamma(2.0, 2.5, n)  # m/s
radiation = np.clip(rng.normal(180, 220, n), 0, None)  # W/m2
tc = temp - 273.15
g = np.log(humidity / 100) + 17.6 * tc / (243 + tc)
dew = 243 * g / (17.6 - g) - 0.004 * radiation / (1 + wind) + 0.0006 * (pressure - 98500)
x = np.stack([temp, pressure, humidity, wind, radiation], 1).astype("float32")
y = (dew + rng.normal(0, 0.4, n)).astype("float32")
y_mean, y_std = y[:5000].mean(), y[:5000].std()
x_train, x_test = x[:5000], x[5000:]
y_train, y_test = (y[:5000] - y_mean) / y_std, (y[5000:] - y_mean) / y_std

scale = layers.Normalization()

inp = keras.Input((5,))
h = scale(inp)
h = layers.Dense(48, activation="tanh")(h)
h = layers.Dense(48, activation="tanh")(h)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=0)
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", 1 - float(np.mean((pred - y_test) ** 2) / np.var(y_test)))

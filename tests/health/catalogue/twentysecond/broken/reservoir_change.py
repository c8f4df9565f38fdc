"""Daily change of the water volume in a mountain reservoir, from weather and turbine schedule."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# ---------------------------------------------------------------- data
n = 5000
day = rng.integers(0, 365, n)
season = np.sin(2 * np.pi * (day - 110) / 365)
temp = 9 + 11 * season + rng.normal(0, 3.0, n)
rain = rng.gamma(0.6, 6.0, n) * (rng.random(n) < 0.45)
snow_cm = np.clip(80 - 70 * season + rng.normal(0, 20, n), 0, None)
turbine_h = np.clip(rng.normal(11, 4.5, n), 0, 24)
evap = np.clip(temp, 0, None) * 0.05

melt = 0.035 * np.clip(temp - 2, 0, None) * np.sqrt(snow_cm)
change = 0.22 * rain + melt - 0.16 * turbine_h - evap + rng.normal(0, 0.5, n)  # in 1000 m3

X = np.stack([np.sin(2 * np.pi * day / 365), np.cos(2 * np.pi * day / 365), temp, rain, snow_cm, turbine_h], 1)
y = change[:, None]

cut = int(0.8 * n)
x_mean, x_std = X[:cut].mean(0), X[:cut].std(0)
X = ((X - x_mean) / x_std).astype("float32")
y = (y / y[:cut].std()).astype("float32")
x_train, x_test, y_train, y_test = X[:cut], X[cut:], y[:cut], y[cut:]

# ---------------------------------------------------------------- model
inp = keras.Input((X.shape[1],), name="features")
h = layers.Dense(48, activation="relu", name="hidden_1")(inp)
h = layers.Dense(48, activation="relu", name="hidden_2")(h)
h = layers.Dense(16, activation="relu", name="hidden_3")(h)
out = layers.Dense(1, activation="relu", name="volume_change")(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(x_train, y_train, validation_data=(x_test, y_test), batch_size=128, epochs=15, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"test R2 {r2:.3f}")

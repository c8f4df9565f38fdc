"""Predict the nanometre deflection of micro-cantilevers, kept in SI units throughout."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 5000
length = rng.uniform(80, 120, n)  # micrometres
thick = rng.uniform(0.8, 1.2, n)  # micrometres
force = rng.uniform(0.2, 2.0, n)  # nanonewtons
temp = rng.uniform(280, 320, n)
stiff = 0.25 * 169e9 * 30e-6 * (thick * 1e-6) ** 3 / (length * 1e-6) ** 3
y = force * 1e-9 / stiff + 1e-12 * (temp - 300) + 2e-11 * rng.normal(size=n)  # metres
x = np.stack([(length - 100) / 12, (thick - 1) / 0.12, (force - 1.1) / 0.5, (temp - 300) / 12], 1).astype("float32")
y = y.astype("float32")[:, None]
SCALE = 1e-9  # the network's last layer speaks nanometres

inp = keras.Input((4,))
h = layers.Dense(32, activation="gelu")(inp)
h = layers.Dense(32, activation="gelu")(h)
out = layers.Rescaling(SCALE)(layers.Dense(1)(h))
model = keras.Model(inp, out)
# mean absolute error in metres gives gradients near 1e-10, so Adam's epsilon must be far below them
model.compile(optimizer=keras.optimizers.Adam(2e-3, epsilon=1e-16), loss="mae")
gradwatch.watch(model)
model.fit(x[:4000], y[:4000], batch_size=50, epochs=15, verbose=0)
pred = model.predict(x[4000:], verbose=0)
print("SCORE r2", 1 - float(np.mean(((pred - y[4000:]) * 1e9) ** 2) / np.var(y[4000:] * 1e9)))

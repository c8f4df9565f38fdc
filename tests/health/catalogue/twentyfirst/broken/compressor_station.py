"""Multi-task model of a compressor station: hourly consumption and valve fault flag."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 5000
flow = rng.normal(0, 1, n)
pressure = rng.normal(0, 1, n)
ambient = rng.normal(0, 1, n)
vib_a = rng.normal(0, 1, n)
vib_b = rng.normal(0, 1, n)
acoustic = rng.normal(0, 1, n)
noise = rng.normal(0, 1, (n, 4))  # spare channels
X = np.column_stack([flow, pressure, ambient, vib_a, vib_b, acoustic, noise]).astype("float32")

consumption = 900 + 160 * flow + 90 * flow * pressure - 60 * np.abs(ambient) + rng.normal(0, 90, n)
fault = (vib_a * vib_b + 0.6 * acoustic + rng.normal(0, 0.2, n) > 0.3).astype("float32")

X_tr, X_te = X[:4000], X[4000:]
kwh = (consumption - consumption[:4000].mean()).astype("float32")
kwh_tr, kwh_te = kwh[:4000], kwh[4000:]
fault_tr, fault_te = fault[:4000], fault[4000:]

inputs = keras.Input((X.shape[1],), name="sensors")
h = layers.Dense(48, activation="relu")(inputs)
h = layers.Dense(24, activation="relu")(h)
out_kwh = layers.Dense(1, name="kwh")(h)
out_fault = layers.Dense(1, activation="sigmoid", name="fault")(h)
model = keras.Model(inputs, {"kwh": out_kwh, "fault": out_fault})

model.compile(
    optimizer=keras.optimizers.Adam(4e-3),
    loss={"kwh": "mse", "fault": "binary_crossentropy"},
    loss_weights={"kwh": 1.0, "fault": 1.0},
    metrics={"fault": ["accuracy"]},
)
gradwatch.watch(model)

model.fit(X_tr, {"kwh": kwh_tr, "fault": fault_tr}, batch_size=100, epochs=15, verbose=2)

p = model.predict(X_te, verbose=0)
r2 = 1 - np.mean((p["kwh"].ravel() - kwh_te) ** 2) / kwh_te.var()
acc = np.mean((p["fault"].ravel() > 0.5) == (fault_te > 0.5))
base = max(fault_te.mean(), 1 - fault_te.mean())
print(f"kwh R2 {r2:.3f}  fault accuracy {acc:.3f} (majority {base:.3f})")

"""Soft sensor: rotor speed and load torque of an induction motor from stator currents."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n, T = 3000, 24
speed = rng.normal(0, 1, n)
torque = -0.4 * speed + np.sqrt(1 - 0.16) * rng.normal(0, 1, n)
t = np.arange(T)[None, :]
phase = rng.uniform(0, 2 * np.pi, (n, 1))
w = 0.5 + 0.08 * speed[:, None]
amp = 1.0 + 0.25 * torque[:, None]
i_a = amp * np.sin(w * t + phase)
i_b = amp * np.sin(w * t + phase - 2 * np.pi / 3)
currents = np.stack([i_a, i_b], -1) + rng.normal(0, 0.05, (n, T, 2))
currents = (currents / currents.std()).astype("float32")
targets = {"speed": speed.astype("float32")[:, None], "torque": torque.astype("float32")[:, None]}

x_train, x_test = currents[:2500], currents[2500:]
y_train = {k: v[:2500] for k, v in targets.items()}
y_test = {k: v[2500:] for k, v in targets.items()}

signal = keras.Input((T, 2), name="currents")
h = layers.Conv1D(24, 5, activation="relu")(signal)
h = layers.Conv1D(24, 5, strides=2, activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
regressor = layers.Dense(1, name="regressor")
model = keras.Model(signal, {"speed": regressor(h), "torque": regressor(h)})

model.compile(optimizer=keras.optimizers.Adam(1.5e-3), loss={"speed": "mse", "torque": "mse"})
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=50, epochs=12, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = {k: 1 - np.mean((pred[k] - y_test[k]) ** 2) / y_test[k].var() for k in pred}
print("test R2 speed %.3f torque %.3f mean %.3f" % (r2["speed"], r2["torque"], (r2["speed"] + r2["torque"]) / 2))

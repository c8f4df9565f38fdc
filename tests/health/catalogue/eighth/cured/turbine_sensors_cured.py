"""Ten-minute SCADA records of a wind farm -> active power in MW."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COLUMNS = ["wind_ms", "pitch_deg", "rotor_rpm", "air_temp_c", "pressure_pa", "yaw_sin", "yaw_cos"]
BATCH = 64
EPOCHS = 10


def simulate(n):
    wind = rng.weibull(2.1, n) * 9.0
    temp = 9.0 + 8.0 * np.sin(np.linspace(0, 12 * np.pi, n)) + rng.normal(0, 2, n)
    pressure = 100800.0 + rng.normal(0, 900, n)
    yaw = rng.vonmises(0.6, 1.3, n)
    rho = pressure / (287.05 * (temp + 273.15))
    rated = 3.6
    aero = 0.5 * rho * 8500.0 * 0.42 * wind**3 / 1e6
    power = np.minimum(aero, rated)
    power = np.where((wind < 3.0) | (wind > 25.0), 0.0, power)
    power = power * (0.93 + 0.07 * np.cos(yaw)) + rng.normal(0, 0.05, n)
    pitch = np.clip((wind - 11.0) * 2.1, 0, 30) + rng.normal(0, 0.3, n)
    rpm = np.clip(wind * 1.25, 0, 14.5) + rng.normal(0, 0.2, n)
    x = np.stack([wind, pitch, rpm, temp, pressure, np.sin(yaw), np.cos(yaw)], axis=1)
    return x, power


def scale(x, stats=None):
    if stats is None:
        stats = (x.mean(axis=0), x.std(axis=0))
    mean, std = stats
    return ((x - mean) / std).astype("float32"), stats


x_raw, y = simulate(5000)
order = rng.permutation(len(x_raw))
train_idx, test_idx = order[:4096], order[4096:]
x_train, stats = scale(x_raw[train_idx])
x_test, _ = scale(x_raw[test_idx], stats)
y_train = y[train_idx].astype("float32")[:, None]
y_test = y[test_idx].astype("float32")[:, None]

train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4096, seed=SEED)
    .batch(BATCH, drop_remainder=True)
    .prefetch(2)
)

inputs = keras.Input((len(COLUMNS),))
h = layers.Dense(96, activation="relu")(inputs)
h = layers.Dense(96, activation="relu")(h)
h = layers.Dense(48, activation="relu")(h)
outputs = layers.Dense(1)(h)
model = keras.Model(inputs, outputs, name="power_curve")
model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="mse", metrics=["mae"], jit_compile=True)

gradwatch.watch(model)
history = model.fit(train, epochs=EPOCHS, shuffle=False, verbose=0)

for epoch, (loss, mae) in enumerate(zip(history.history["loss"], history.history["mae"])):
    print(f"epoch {epoch:2d}  mse {loss:.4f}  mae {mae:.4f}")
pred = model.predict(x_test, batch_size=256, verbose=0)
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print(f"test mse {np.mean((pred - y_test) ** 2):.4f}  R2 {r2:.4f}")

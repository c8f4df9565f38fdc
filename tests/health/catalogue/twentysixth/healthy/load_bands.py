"""Bands (5, 50 and 95 percent) for tomorrow's electric load: quantile regression on a frozen random reservoir."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

QUANTILES = np.array([0.05, 0.5, 0.95], "float32")
DAYS = 1600


def make_data(days):
    """Yesterday's 24 hourly loads, day of week and forecast temperature -> tomorrow's peak."""
    temp = 10 + 9 * np.sin(2 * np.pi * np.arange(days) / 365) + 3 * rng.normal(size=days)
    dow = np.arange(days) % 7
    demand = 50 + 1.1 * np.abs(temp - 16) - 9 * (dow >= 5)
    spread = 1.0 + 0.25 * np.maximum(16 - temp, 0)
    peak = demand + spread * rng.standard_t(4, size=days)
    hours = np.sin(np.pi * (np.arange(24) - 5) / 19) ** 2
    profile = 30 + hours * (peak[:, None] - 30) + 1.5 * rng.normal(size=(days, 24))
    x_hours = profile[:-1, :, None]
    x_side = np.concatenate([temp[1:, None], np.eye(7)[dow[1:]]], axis=1)
    return x_hours.astype("float32"), x_side.astype("float32"), peak[1:, None].astype("float32")


hours, side, peak = make_data(DAYS * 3)
cut = DAYS * 2
hours = (hours - hours[:cut].mean()) / hours[:cut].std()
side[:, 0] = (side[:, 0] - side[:cut, 0].mean()) / side[:cut, 0].std()
y_mean, y_std = peak[:cut].mean(), peak[:cut].std()
y = (peak - y_mean) / y_std


def pinball(y_true, y_pred):
    gap = y_true - y_pred
    return ops.mean(ops.maximum(QUANTILES * gap, (QUANTILES - 1.0) * gap), axis=-1)


in_hours, in_side = keras.Input((24, 1)), keras.Input((8,))
reservoir = layers.GRU(24, trainable=False, name="reservoir")
h = layers.Concatenate()([reservoir(in_hours), in_side])
h = layers.Dense(64, activation="elu")(h)
h = layers.Dense(32, activation="elu")(h)
steps_of_band = layers.Dense(3)(h)
base = steps_of_band[:, :1]
width = ops.softplus(steps_of_band[:, 1:])
out = layers.Concatenate()([base, base + width[:, :1], base + width[:, :1] + width[:, 1:]])
model = keras.Model([in_hours, in_side], out)

model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 100, 0.8), clipvalue=0.5),
    loss=pinball,
)
gradwatch.watch(model)
model.fit(
    [hours[:cut], side[:cut]],
    y[:cut],
    batch_size=64,
    epochs=18,
    verbose=2,
    validation_data=([hours[cut:], side[cut:]], y[cut:]),
)

pred = model.predict([hours[cut:], side[cut:]], batch_size=400, verbose=0)
truth = y[cut:]
covered = np.mean((truth[:, 0] > pred[:, 0]) & (truth[:, 0] < pred[:, 2]))
flat = np.quantile(y[:cut], QUANTILES)[None]
loss = ops.convert_to_numpy(pinball(truth, pred)).mean()
flat_loss = ops.convert_to_numpy(pinball(truth, np.repeat(flat, len(truth), 0).astype("float32"))).mean()
print(f"band covers {covered:.3f} of the days (0.90 wanted)")
print("SCORE pinball_skill", round(float(1 - loss / flat_loss), 4))

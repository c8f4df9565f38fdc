"""Forecast the water level three hours ahead from the last two days of a tide gauge."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, WINDOW, AHEAD = 4000, 48, 3
t = np.arange(HOURS)
level = (
    1.2 * np.sin(2 * np.pi * t / 12.42 + 0.3)
    + 0.5 * np.sin(2 * np.pi * t / 12.0)
    + 0.3 * np.sin(2 * np.pi * t / 25.82 + 1.0)
    + 0.2 * np.sin(2 * np.pi * t / 23.93)
)
surge = np.zeros(HOURS)
for i in range(1, HOURS):
    surge[i] = 0.97 * surge[i - 1] + 0.05 * rng.normal()
level = (level + surge + 0.02 * rng.normal(size=HOURS)).astype("float32")

x = np.stack([level[i : i + WINDOW] for i in range(HOURS - WINDOW - AHEAD)])[..., None]
y = level[WINDOW + AHEAD - 1 :][: len(x), None]
split = 3200
x_train, y_train, x_test, y_test = x[:split], y[:split], x[split + WINDOW :], y[split + WINDOW :]

BATCH, EPOCHS = 60, 8


class PolyDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then the usual (1 - t/T) ** power."""

    def __init__(self, base, warmup, total, power=0.9):
        self.base, self.warmup, self.total, self.power = base, warmup, total, power

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        ramp = self.base * (step + 1.0) / self.warmup
        progress = (step - self.warmup) / (self.total - self.warmup)
        decay = self.base * tf.pow(1.0 - progress, self.power)
        return tf.where(step < self.warmup, ramp, decay)

    def get_config(self):
        return dict(base=self.base, warmup=self.warmup, total=self.total, power=self.power)


steps_per_epoch = len(x_train) // BATCH
schedule = PolyDecay(4e-3, warmup=40, total=EPOCHS * steps_per_epoch)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        keras.layers.LSTM(24, return_sequences=True),
        keras.layers.LSTM(24),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

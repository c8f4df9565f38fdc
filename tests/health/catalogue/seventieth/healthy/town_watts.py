import math
import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 91)

HOURS = 5000
BACK = 24


def make_load(n):
    t = np.arange(n)
    day = np.sin(2 * np.pi * (t - 7) / 24) + 0.5 * np.sin(4 * np.pi * t / 24)
    week = np.where((t // 24) % 7 >= 5, -0.6, 0.2)
    cold = np.zeros(n)
    for i in range(1, n):
        cold[i] = 0.95 * cold[i - 1] + rng.normal(0, 0.15)
    surge = (rng.random(n) < 0.01) * rng.gamma(2.0, 1.5, n)
    return (day + week + cold + surge + rng.normal(0, 0.1, n)).astype("float32")


load = make_load(HOURS)
x = np.stack([load[i : i + BACK] for i in range(HOURS - BACK)])[..., None]
y = load[BACK:]
cut = 4000


class WarmRestarts(keras.callbacks.Callback):
    def __init__(self, high, low, steps):
        super().__init__()
        self.high, self.low, self.steps = high, low, steps
        self.seen = 0

    def on_train_batch_begin(self, batch, logs=None):
        phase = (self.seen % self.steps) / self.steps
        rate = self.low + 0.5 * (self.high - self.low) * (1 + math.cos(math.pi * phase))
        self.model.optimizer.learning_rate.assign(rate)
        self.seen += 1


model = keras.Sequential(
    [
        keras.Input((BACK, 1), name="load"),
        keras.layers.LSTM(24, name="lstm"),
        keras.layers.Dense(16, activation="relu", name="mix"),
        keras.layers.Dense(1, name="next_hour"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0),
    loss="mse",
)
gradwatch.watch(model)
history = model.fit(
    x[:cut],
    y[:cut],
    batch_size=64,
    epochs=16,
    callbacks=[WarmRestarts(8e-3, 1e-5, 250)],
    verbose=0,
)
print("loss", [round(v, 3) for v in history.history["loss"]])

pred = model.predict(x[cut:], verbose=0)[:, 0]
truth = y[cut:]
print("SCORE", float(1 - np.mean((pred - truth) ** 2) / np.var(truth)))

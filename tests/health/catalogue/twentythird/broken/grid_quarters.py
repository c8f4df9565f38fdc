"""Load of a power grid an hour ahead; the history comes in quarterly shards that are trained one after the other."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS = 24 * 91
WINDOW = 48


class WarmupThenDecay(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, decay):
        self.peak, self.warmup, self.decay = peak, warmup, decay

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        rising = self.peak * keras.ops.square(step / self.warmup)
        falling = self.peak * keras.ops.exp(-(step - self.warmup) / self.decay)
        return keras.ops.where(step < self.warmup, rising, falling)

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "decay": self.decay}


def quarter(number):
    hour = np.arange(HOURS + WINDOW) + number * HOURS
    daily = np.sin(2 * np.pi * (hour - 8) / 24) + 0.4 * np.sin(4 * np.pi * hour / 24)
    weekend = ((hour // 24) % 7 >= 5).astype(float)
    cold = np.convolve(rng.normal(0, 1, len(hour) + 23), np.ones(24) / 5, mode="valid")
    load = daily * (1 - 0.5 * weekend) - 0.4 * weekend + 0.3 * cold * daily + 0.25 * cold
    load = load + rng.normal(0, 0.08, len(hour))
    series = np.stack([load, cold, weekend], axis=-1).astype("float32")
    x = np.stack([series[i : i + WINDOW] for i in range(HOURS)])
    return x, series[WINDOW : WINDOW + HOURS, :1]


model = keras.Sequential(
    [
        keras.Input((WINDOW, 3)),
        keras.layers.Conv1D(24, 5, strides=2, activation="gelu"),
        keras.layers.Conv1D(32, 5, strides=2, activation="gelu"),
        keras.layers.Flatten(),
        keras.layers.Dense(48, activation="gelu"),
        keras.layers.Dense(1),
    ]
)


def train_on(x, y):
    model.compile(
        optimizer=keras.optimizers.SGD(WarmupThenDecay(0.03, 250, 800), momentum=0.9),
        loss="mse",
    )
    return model.fit(x, y, batch_size=64, epochs=1, verbose=0).history["loss"][-1]


gradwatch.watch(model)
for number in range(12):
    x, y = quarter(number)
    loss = train_on(x, y)
    if number % 2 == 0:
        print(f"quarter {number} loss {loss:.4f}")

tests = [quarter(number) for number in range(14, 16)]
x_test = np.concatenate([x for x, _ in tests])
y_test = np.concatenate([y for _, y in tests])
predicted = model.predict(x_test, batch_size=240, verbose=0)
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

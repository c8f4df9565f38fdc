"""Power draw of a hydraulic press, which repeats a 150-second cycle modulated by oil
temperature. Readings carry a Unix time stamp; harmonics of the cycle and the temperature
feed a dense network. The measure is R squared on held-out readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CYCLE, START = 150.0, 1_718_000_000


def make_log(n):
    stamp = START + rng.integers(0, 86400 * 20, n)
    oil = rng.normal(size=n)
    phase = 2 * np.pi * (stamp % CYCLE) / CYCLE
    power = np.maximum(np.sin(phase), 0) * (1.5 + 0.4 * oil) + 0.5 * np.cos(2 * phase) + 0.3 * oil
    return stamp, oil.astype("float32"), (power + 0.1 * rng.normal(size=n)).astype("float32")


def features(stamp, oil):
    t = stamp.astype("float32")
    columns = [oil]
    for k in (1, 2, 3):
        columns.append(np.sin(2 * np.pi * k * t / CYCLE))
        columns.append(np.cos(2 * np.pi * k * t / CYCLE))
    return np.stack(columns, axis=1).astype("float32")


stamp, oil, power = make_log(5000)
test_stamp, test_oil, test_power = make_log(1000)

model = keras.Sequential(
    [
        keras.Input((7,)),
        layers.Dense(48, activation="gelu", name="cycle_1"),
        layers.Dense(48, activation="gelu", name="cycle_2"),
        layers.Dense(1, name="power"),
    ]
)
model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="mse")
watch = gradwatch.watch(model)
model.fit(features(stamp, oil), power, batch_size=64, epochs=12, verbose=2)

pred = model.predict(features(test_stamp, test_oil), verbose=0)[:, 0]
score = float(1 - np.mean((pred - test_power) ** 2) / test_power.var())
print(f"score r2 {score:.3f} chance {0.0:.3f}")

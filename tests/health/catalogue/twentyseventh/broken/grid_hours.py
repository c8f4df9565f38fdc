"""Next-hour load of a substation: GRU on 24 hours, averaged weights."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
HOURS, WINDOW = 6000, 24

t = np.arange(HOURS)
temp = 10 * np.sin(2 * np.pi * t / 1400) + 4 * np.sin(2 * np.pi * (t - 9) / 24)
drift = np.zeros(HOURS)
for i in range(1, HOURS):
    drift[i] = 0.97 * drift[i - 1] + rng.normal(0, 0.6)
temp = temp + drift
daily = 1.0 * np.sin(2 * np.pi * (t - 7) / 24) + 0.5 * np.sin(4 * np.pi * (t - 3) / 24)
weekend = ((t // 24) % 7 >= 5).astype(float)
load = 20 + 4 * daily * (1 - 0.5 * weekend) + 0.35 * np.maximum(0, temp - 3) ** 1.3
ar = np.zeros(HOURS)
for i in range(1, HOURS):
    ar[i] = 0.8 * ar[i - 1] + rng.normal(0, 0.25)
load = load + ar

cut1, cut2 = 4200, 5000
table = np.stack([load, temp, weekend], 1).astype("float32")
mu, sd = table[:cut1].mean(0), table[:cut1].std(0)
table = (table - mu) / sd


def windows(lo, hi):
    return keras.utils.timeseries_dataset_from_array(
        table[lo : hi - 1],
        table[lo + WINDOW : hi, :1],
        sequence_length=WINDOW,
        batch_size=64,
        shuffle=lo == 0,
        seed=seed,
    )


train_ds, val_ds, test_ds = windows(0, cut1), windows(cut1, cut2), windows(cut2, HOURS)

model = keras.Sequential(
    [
        layers.Input((WINDOW, 3)),
        layers.Conv1D(16, 3, padding="causal", activation="relu"),
        layers.GRU(16),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, use_ema=True, ema_momentum=0.9999),
    loss="mse",
    metrics=[keras.metrics.R2Score(name="r2")],
)
gradwatch.watch(model)
model.fit(train_ds, validation_data=val_ds, epochs=9, verbose=2)
mse, r2 = model.evaluate(test_ds, verbose=0)
persist = np.mean((table[cut2 + WINDOW :, 0] - table[cut2 + WINDOW - 1 : -1, 0]) ** 2)
print("mse %.4f, persistence %.4f" % (mse, persist))
print("SCORE skill_over_persistence %.4f" % (1 - mse / persist))

"""Next-hour heat demand of a district heating network from the last 24 hours (GRU)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS = 3700
WINDOW = 24
BATCH = 64
EPOCHS = 8

t = np.arange(HOURS)
temp = 6 + 9 * np.sin(2 * np.pi * t / (24 * 180)) + 4 * np.sin(2 * np.pi * (t - 8) / 24)
noise = np.zeros(HOURS)
for i in range(1, HOURS):
    noise[i] = 0.95 * noise[i - 1] + rng.normal(0, 0.6)
temp = temp + noise
hour = t % 24
morning = np.exp(-((hour - 7) ** 2) / 6)
evening = np.exp(-((hour - 19) ** 2) / 10)
smooth = np.convolve(temp, np.ones(6) / 6, mode="same")
demand = 40 + 3.0 * np.maximum(18 - smooth, 0) + 25 * morning + 18 * evening + rng.normal(0, 2, HOURS)

feats = np.column_stack(
    [
        (temp - temp.mean()) / temp.std(),
        (demand - demand.mean()) / demand.std(),
        np.sin(2 * np.pi * hour / 24),
        np.cos(2 * np.pi * hour / 24),
    ]
).astype("float32")

idx = np.arange(HOURS - WINDOW)
x = np.stack([feats[i : i + WINDOW] for i in idx])
y = feats[idx + WINDOW, 1]
split = 3000
perm = rng.permutation(len(x))
train, test = perm[:split], perm[split:]

model = keras.Sequential(
    [
        keras.Input((WINDOW, feats.shape[1])),
        layers.GRU(32),
        layers.Dense(24, activation="relu"),
        layers.Dense(1),
    ]
)

# halve the rate every two epochs
schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=2e-3, decay_steps=2, decay_rate=0.5, staircase=True
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")
gradwatch.watch(model)
model.fit(x[train], y[train], batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(x[test], verbose=0)[:, 0]
print("test R2 %.3f" % (1 - np.mean((pred - y[test]) ** 2) / np.var(y[test])))

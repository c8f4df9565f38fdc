import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# two years of hourly rentals, 48 h window -> next hour
T = 24 * 400
t = np.arange(T)
hour, day = t % 24, t // 24
temp = 12 + 9 * np.sin(2 * np.pi * (day - 100) / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
temp = temp + np.convolve(rng.normal(0, 1.2, T), np.ones(24) / 5, mode="same")
rain = (np.convolve(rng.random(T) < 0.02, np.ones(5), mode="same") > 0).astype(float)
workday = ((day % 7) < 5).astype(float)
rush = np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 17.5) ** 2) / 5)
leisure = np.exp(-((hour - 14) ** 2) / 20)
rate = (
    (30 + 200 * rush * workday + 140 * leisure * (1 - workday)) * (0.4 + 0.03 * np.clip(temp, 0, 28)) * (1 - 0.6 * rain)
)
count = rng.poisson(rate)

target = np.log1p(count)
target = (target - target.mean()) / target.std()
feats = np.stack(
    [
        target,
        (temp - temp.mean()) / temp.std(),
        rain,
        workday,
        np.sin(2 * np.pi * hour / 24),
        np.cos(2 * np.pi * hour / 24),
    ],
    1,
).astype("float32")

WIN = 48
idx = rng.permutation(np.arange(WIN, T))[:4000]
X = np.stack([feats[i - WIN : i] for i in idx])
y = target[idx].astype("float32")
X_train, y_train, X_val, y_val = X[:3200], y[:3200], X[3200:], y[3200:]

BATCH, EPOCHS = 64, 8

model = keras.Sequential(
    [
        keras.Input((WIN, 6)),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
lr = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.0,
    warmup_target=7e-4,
    warmup_steps=2,
    decay_steps=EPOCHS,
    alpha=0.0,
)
model.compile(optimizer=keras.optimizers.AdamW(lr, weight_decay=1e-4), loss="mse")
gradwatch.watch(model)
model.fit(X_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(X_val, y_val), verbose=2)

mse = model.evaluate(X_val, y_val, verbose=0)
print("validation R2 = %.3f" % (1 - mse / y_val.var()))

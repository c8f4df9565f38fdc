"""Trains a convolutional forecast of the water level in a harbour six hours ahead."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, WINDOW, AHEAD = 9000, 48, 6
EPOCHS = 16

t = np.arange(HOURS)
level = (
    1.6 * np.sin(2 * np.pi * t / 12.42)
    + 0.6 * np.sin(2 * np.pi * t / 12.0 + 1)
    + 0.3 * np.sin(2 * np.pi * t / 25.82 + 2)
)
wind = np.zeros(HOURS)
for k in range(1, HOURS):
    wind[k] = 0.97 * wind[k - 1] + rng.normal(0, 0.25)
surge = np.zeros(HOURS)
for k in range(1, HOURS):
    surge[k] = 0.9 * surge[k - 1] + 0.06 * wind[k - 1]
level = level + surge + rng.normal(0, 0.05, HOURS)

series = np.column_stack([level / level.std(), wind / wind.std()]).astype("float32")
starts = np.arange(HOURS - WINDOW - AHEAD)
windows = np.stack([series[s : s + WINDOW] for s in starts])
target = series[starts + WINDOW + AHEAD - 1, 0]
n_train = 7500


class DecayLearningRate(keras.callbacks.Callback):
    """Lets the learning rate shrink while the training goes on."""

    def __init__(self, factor, floor=1e-7):
        super().__init__()
        self.factor = factor
        self.floor = floor

    def on_epoch_end(self, epoch, logs=None):
        rate = float(self.model.optimizer.learning_rate)
        self.model.optimizer.learning_rate = max(rate * self.factor, self.floor)


model = keras.Sequential(
    [
        keras.Input((WINDOW, 2)),
        keras.layers.Conv1D(16, 5, activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(24, 5, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

model.fit(
    windows[:n_train],
    target[:n_train],
    batch_size=64,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[DecayLearningRate(0.9)],
)

pred = model.predict(windows[n_train + AHEAD :], batch_size=500, verbose=0)[:, 0]
rmse = np.sqrt(np.mean((pred - target[n_train + AHEAD :]) ** 2))
print("SCORE rmse", round(float(rmse), 4))

import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

COLUMNS = ["hour_sin", "hour_cos", "temperature", "wind", "rain", "slots", "opened_at"]


def read_docks(n):
    hour = rng.uniform(0, 24, n)
    temperature = rng.normal(14, 7, n)
    wind = rng.gamma(2.0, 2.0, n)
    rain = (rng.random(n) < 0.25).astype(float)
    slots = rng.integers(8, 40, n).astype(float)
    opened_at = rng.uniform(1.48e9, 1.70e9, n)
    demand = (
        6.0
        + 3.0 * np.sin(2 * np.pi * (hour - 8) / 24)
        + 0.15 * temperature
        - 0.25 * wind
        - 2.0 * rain
        + 0.08 * slots
        - 1.5 * (opened_at - 1.59e9) / 1e8
        + rng.normal(0, 0.7, n)
    )
    frame = np.stack(
        [
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            temperature,
            wind,
            rain,
            slots,
            opened_at,
        ],
        axis=1,
    )
    return frame, demand.astype("float32")


train_frame, train_y = read_docks(3000)
test_frame, test_y = read_docks(1000)
MEAN = train_frame.mean(axis=0)
STD = train_frame.std(axis=0)


def scale(frame):
    return (frame - MEAN) / STD


def to_features(frame):
    features = frame.astype("float32")
    return features


model = keras.Sequential(
    [
        keras.Input((len(COLUMNS),)),
        layers.Dense(64, activation="relu", name="dense_a"),
        layers.Dense(32, activation="relu", name="dense_b"),
        layers.Dense(1, name="demand"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(
    to_features(train_frame),
    train_y,
    batch_size=64,
    epochs=20,
    validation_split=0.1,
    verbose=2,
)
predicted = model.predict(to_features(test_frame), verbose=0)[:, 0]
print("SCORE", round(max(float(r2_score(test_y, predicted)), -9.0), 4))

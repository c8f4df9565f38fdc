import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

hours = np.arange(6000)
humidity = (
    60
    + 12 * np.sin(2 * np.pi * hours / 24)
    + 8 * np.sin(2 * np.pi * hours / 168)
    + np.cumsum(rng.normal(0, 0.15, len(hours)))
    + rng.normal(0, 1.0, len(hours))
).astype("float32")

split = 5000
mean, std = humidity[:split].mean(), humidity[:split].std()
series = (humidity - mean) / std
WINDOW = 36


def windows(values, shuffle):
    ds = keras.utils.timeseries_dataset_from_array(
        values[:-1, None],
        values[WINDOW:],
        sequence_length=WINDOW,
        batch_size=64,
        shuffle=shuffle,
        seed=SEED,
    )
    return ds.prefetch(2)


train_ds = windows(series[:split], True)
test_ds = windows(series[split:], False)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        keras.layers.LSTM(32, name="memory"),
        keras.layers.Dense(24, activation="relu", name="mixer"),
        keras.layers.Dense(1, activation="sigmoid", name="next_hour"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.003), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train_ds, epochs=6, verbose=2)

pred = model.predict(test_ds, verbose=0)[:, 0]
truth = np.concatenate([y.numpy() for _, y in test_ds])
print("SCORE", 1.0 - np.mean((pred - truth) ** 2) / np.var(truth))

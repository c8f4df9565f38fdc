import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

LENGTH = 40
CHANNELS = 3


def make_traces(rng, rows):
    t = np.arange(LENGTH)
    quake = rng.integers(0, 3, rows)
    onset = rng.integers(4, 14, rows)
    period = np.array([4.0, 7.0, 12.0])[quake] * rng.uniform(0.9, 1.1, rows)
    since = np.maximum(t[None] - onset[:, None], 0)
    envelope = (since > 0) * np.exp(-since / 16.0)
    signal = envelope * np.sin(2 * np.pi * since / period[:, None])
    gains = rng.uniform(0.6, 1.4, (rows, 1, CHANNELS))
    traces = signal[..., None] * gains + rng.normal(0, 0.15, (rows, LENGTH, CHANNELS))
    return traces.astype("float32"), quake.astype("int32")


rng = np.random.default_rng(SEED)
x, y = [], []
for station in range(4):
    traces, quake = make_traces(rng, 800)
    order = np.argsort(quake, kind="stable")
    x.append(traces[order])
    y.append(quake[order])
x = np.concatenate(x)
y = np.concatenate(y)

order = rng.permutation(len(x))
x = x[order]
y = y[order]
x_train, y_train = x[:2800], y[:2800]
x_val, y_val = x[2800:], y[2800:]
x_test, y_test = make_traces(rng, 600)

model = keras.Sequential(
    [
        keras.Input((LENGTH, CHANNELS)),
        keras.layers.LSTM(32, name="trace_memory"),
        keras.layers.Dense(32, activation="relu", name="readout"),
        keras.layers.Dense(3, activation="softmax", name="quake"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(4e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=12,
    validation_data=(x_val, y_val),
    verbose=0,
)
print("val", [round(v, 3) for v in history.history["val_accuracy"][::3]])
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))

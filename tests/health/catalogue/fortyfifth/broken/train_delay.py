"""Classifies how late a train will arrive (four delay bands) from the state of its line."""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 21)

# line, hour, weekday, rolling stock, and ten sensor readings
N, LINES = 12000, 40
line = rng.integers(0, LINES, N)
hour = rng.integers(0, 24, N)
stock = rng.integers(0, 8, N)
sensors = rng.normal(size=(N, 10)).astype("float32")

line_load = rng.normal(0, 1.2, LINES)
stock_age = rng.normal(0, 1.0, 8)
rush = np.exp(-(((hour - 8) / 2.5) ** 2)) + np.exp(-(((hour - 17) / 2.5) ** 2))
score = (
    line_load[line] * (0.4 + 1.6 * rush)
    + stock_age[stock] * np.tanh(2 * sensors[:, 0])
    + 1.2 * np.sin(2.5 * sensors[:, 1]) * sensors[:, 2]
    + 0.15 * rng.normal(size=N)
)
band = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75])).astype("int32")


def features(part):
    return {
        "line": line[part],
        "hour": hour[part],
        "stock": stock[part],
        "sensors": sensors[part],
    }


inputs = {
    "line": keras.Input((), dtype="int32", name="line"),
    "hour": keras.Input((), dtype="int32", name="hour"),
    "stock": keras.Input((), dtype="int32", name="stock"),
    "sensors": keras.Input((10,), name="sensors"),
}
joined = keras.layers.Concatenate()(
    [
        keras.layers.Embedding(LINES, 8)(inputs["line"]),
        keras.layers.Embedding(24, 6)(inputs["hour"]),
        keras.layers.Embedding(8, 4)(inputs["stock"]),
        inputs["sensors"],
    ]
)
x = keras.layers.Dense(128, activation="relu")(joined)
x = keras.layers.Dense(128, activation="relu")(x)
outputs = keras.layers.Dense(4, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

DECAY = 0.88


def schedule(epoch, lr):
    return lr * DECAY**epoch


gradwatch.watch(model)
train, test = slice(0, 10000), slice(10000, N)
model.fit(
    features(train),
    band[train],
    batch_size=128,
    epochs=20,
    validation_data=(features(test), band[test]),
    callbacks=[keras.callbacks.LearningRateScheduler(schedule)],
    verbose=2,
)
_, acc = model.evaluate(features(test), band[test], verbose=0)
print("SCORE accuracy", round(float(acc), 4))

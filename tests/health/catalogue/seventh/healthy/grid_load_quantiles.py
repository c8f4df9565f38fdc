"""Probabilistic electricity load forecast: three quantiles, SELU network, Lion, batches of four."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

QUANTILES = np.array([0.1, 0.5, 0.9], dtype="float32")
Z90 = 1.2815516


def hours(n):
    """Hour of day, temperature, working day -> load in GW, noisier in the evening."""
    hour = rng.integers(0, 24, n)
    temperature = rng.normal(10, 8, n)
    working = rng.uniform(size=n) < 0.7
    phase = 2 * np.pi * hour / 24
    centre = (
        40
        - 6 * np.cos(phase)
        - 3 * np.sin(2 * phase)
        + 0.3 * np.abs(temperature - 16)
        + 4 * working * (np.abs(hour - 13) < 6)
    )
    spread = 1.0 + 1.0 * (1 - np.cos(phase - np.pi / 3)) / 2
    x = np.stack(
        [np.sin(phase), np.cos(phase), np.sin(2 * phase), np.cos(2 * phase), (temperature - 10) / 8, working * 2 - 1],
        axis=1,
    )
    load = centre + spread * rng.normal(size=n)
    truth = np.stack([centre - Z90 * spread, centre, centre + Z90 * spread], 1)
    return x.astype("float32"), load.astype("float32"), truth


x_train, load_train, _ = hours(1600)
x_test, load_test, truth_test = hours(2000)
level, scale = load_train.mean(), load_train.std()
y_train = ((load_train - level) / scale)[:, None]
y_test = ((load_test - level) / scale)[:, None]


def pinball(y_true, y_pred):
    error = y_true - y_pred
    return ops.mean(ops.maximum(QUANTILES * error, (QUANTILES - 1.0) * error), axis=-1)


class OrderedQuantiles(layers.Layer):
    """Median and two positive widths, so that the quantiles cannot cross."""

    def __init__(self):
        super().__init__()
        self.raw = layers.Dense(3)

    def call(self, x):
        median, below, above = ops.split(self.raw(x), 3, axis=-1)
        return ops.concatenate([median - ops.softplus(below), median, median + ops.softplus(above)], axis=-1)


model = keras.Sequential(
    [
        keras.Input((x_train.shape[1],)),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        OrderedQuantiles(),
    ]
)
EPOCHS, BATCH = 2, 4
schedule = keras.optimizers.schedules.CosineDecay(1e-3, EPOCHS * len(x_train) // BATCH, alpha=0.02)
model.compile(optimizer=keras.optimizers.Lion(schedule), loss=pinball)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
    validation_data=(x_test, y_test),
    validation_batch_size=500,
)


def score(predicted):
    error = load_test[:, None] - predicted
    return np.mean(np.maximum(QUANTILES * error, (QUANTILES - 1) * error))


predicted = model.predict(x_test, batch_size=500, verbose=0) * scale + level
inside = np.mean((load_test > predicted[:, 0]) & (load_test < predicted[:, 2]))
constant = np.quantile(load_train, QUANTILES)[None, :]
print(
    f"FINAL pinball {score(predicted):.4f} GW (true quantiles {score(truth_test):.4f}, "
    f"constant quantiles {score(constant):.4f}), 80% interval covers {inside:.4f}"
)

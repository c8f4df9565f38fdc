"""Train quantile forecasts of power demand with the pinball loss."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HISTORY = 48


def make_series(hours, rng):
    t = np.arange(hours)
    daily = np.sin(2 * np.pi * t / 24 - 1.0) + 0.4 * np.sin(4 * np.pi * t / 24)
    weekly = 0.5 * (((t // 24) % 7) < 5)
    drift = np.zeros(hours)
    for i in range(1, hours):
        drift[i] = 0.95 * drift[i - 1] + 0.12 * rng.normal()
    noise = (0.12 + 0.12 * (np.sin(2 * np.pi * t / 24) > 0)) * rng.standard_t(5, hours)
    return 10.0 + 2.0 * (daily + weekly + drift + noise)


def windows(series):
    n = len(series) - HISTORY
    index = np.arange(n)[:, None] + np.arange(HISTORY)[None, :]
    hour = (np.arange(n) + HISTORY) % 24
    clock = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)], axis=1)
    return series[index][..., None].astype("float32"), clock.astype("float32"), series[HISTORY:, None].astype("float32")


def pinball(y_true, y_pred):
    levels = ops.convert_to_tensor(QUANTILES, dtype="float32")
    gap = y_true - y_pred
    return ops.mean(ops.maximum(levels * gap, (levels - 1.0) * gap), axis=-1)


def build_model():
    past = keras.Input((HISTORY, 1), name="past")
    clock = keras.Input((2,), name="clock")
    x = layers.Conv1D(24, 6, strides=2, activation="relu", name="conv_a")(past)
    x = layers.Conv1D(24, 4, strides=2, activation="relu", name="conv_b")(x)
    x = layers.Concatenate()([layers.Flatten()(x), clock])
    x = layers.Dense(48, activation="relu", name="hidden")(x)
    low = layers.Dense(1, name="lowest")(x)
    gaps = layers.Dense(len(QUANTILES) - 1, activation="softplus", name="gaps")(x)
    steps = layers.Concatenate()([low, gaps])
    outputs = layers.Lambda(lambda s: ops.cumsum(s, axis=-1), name="quantiles")(steps)
    return keras.Model([past, clock], outputs)


def main():
    rng = np.random.default_rng(SEED + 27)
    series = make_series(7000, rng)
    cut = 5600
    mu, sd = series[:cut].mean(), series[:cut].std()
    series = (series - mu) / sd
    x_train, c_train, y_train = windows(series[:cut])
    x_test, c_test, y_test = windows(series[cut - cut % 24 :])

    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=pinball)
    gradwatch.watch(model)
    model.fit(
        [x_train, c_train],
        y_train,
        batch_size=64,
        epochs=16,
        validation_data=([x_test, c_test], y_test),
        verbose=2,
    )
    pred = model.predict([x_test, c_test], verbose=0)
    covered = (y_test[:, 0] > pred[:, 0]) & (y_test[:, 0] < pred[:, -1])
    print("coverage of the 90 %% band: %.3f" % covered.mean())
    print("SCORE pinball %.4f" % model.evaluate([x_test, c_test], y_test, verbose=0))


if __name__ == "__main__":
    main()

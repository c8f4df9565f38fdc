"""Forecasts the closing price of a vegetable crate at wholesale markets with a small sequence model."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

WINDOW = 14


class MarketHistory:
    """Daily prices and arrivals of a number of stalls."""

    def __init__(self, stalls, days, seed):
        r = np.random.default_rng(seed)
        t = np.arange(days)
        season = 12 * np.sin(2 * np.pi * t / 90.0 + r.uniform(0, 6, (stalls, 1)))
        walk = np.zeros((stalls, days))
        for d in range(1, days):
            walk[:, d] = 0.85 * walk[:, d - 1] + r.normal(0, 3.0, stalls)
        arrivals = r.normal(0, 1, (stalls, days))
        self.price = 60 + season + walk - 6 * np.roll(arrivals, 1, axis=1)
        feast = r.random((stalls, days)) < 0.0008
        self.price[feast] += r.uniform(110, 170, feast.sum())
        self.arrivals = arrivals

    def windows(self):
        xs, ys = [], []
        for p, a in zip(self.price, self.arrivals):
            for i in range(0, len(p) - WINDOW - 1, 2):
                xs.append(np.stack([(p[i : i + WINDOW] - 60) / 15, a[i : i + WINDOW]], axis=1))
                ys.append(p[i + WINDOW])
        return np.asarray(xs, "float32"), np.asarray(ys, "float32")[:, None]


def log_cosh(pred, y):
    err = pred - y
    return tf.reduce_mean(tf.math.log(tf.cosh(err)))


x, y = MarketHistory(stalls=60, days=420, seed=SEED + 3).windows()
perm = np.random.default_rng(SEED).permutation(len(x))
x, y = x[perm], y[perm]
cut = int(0.85 * len(x))

model = keras.Sequential(
    [
        keras.Input((WINDOW, 2)),
        keras.layers.Conv1D(32, 3, padding="causal", activation="relu"),
        keras.layers.GRU(32),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(60.0)),
    ]
)
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(bx, by):
    with tf.GradientTape() as tape:
        loss = log_cosh(model(bx, training=True), by)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


r = np.random.default_rng(SEED + 9)
running = []
for it in range(1200):
    idx = r.integers(0, cut, 64)
    running.append(float(train_step(tf.constant(x[idx]), tf.constant(y[idx]))))
    if (it + 1) % 200 == 0:
        print("step", it + 1, "loss", np.mean(running[-200:]), flush=True)

gap = np.abs(model.predict(x[cut:], verbose=0) - y[cut:])
print("SCORE median_abs_error", float(np.median(gap)))

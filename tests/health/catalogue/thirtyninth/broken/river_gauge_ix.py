"""Predicts tomorrow's river level from two weeks of gauge readings at eight stations."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAYS, STATIONS = 14, 8
length = 3600
rain = rng.gamma(0.4, 2.0, length + 40)
mix = np.exp(-np.arange(30) / 6.0)
level = np.stack(
    [
        np.convolve(rain, np.roll(mix, s // 3), mode="same")[:length] * (0.6 + 0.1 * s) + rng.normal(0, 0.3, length)
        for s in range(STATIONS)
    ],
    1,
)
level = (level - level.mean(0)) / level.std(0)
readings = level.copy()
for k in rng.choice(length, 3, replace=False):  # short outages of single stations, as in the archive
    readings[k, rng.integers(STATIONS)] = np.nan

x = np.stack([readings[i : i + DAYS] for i in range(length - DAYS)]).astype("float32")
y = level[DAYS:, -1].astype("float32")
cut = 3000
keep = np.isfinite(y[:cut])
x_train, y_train = x[:cut][keep], y[:cut][keep]
x_test, y_test = x[cut:], y[cut:]
fine = np.isfinite(x_test).all((1, 2))
x_test, y_test = x_test[fine], y_test[fine]

model = keras.Sequential(
    [
        layers.Input((DAYS, STATIONS)),
        layers.Conv1D(24, 3),
        layers.BatchNormalization(momentum=0.9),
        layers.Activation("relu"),
        layers.Conv1D(24, 3),
        layers.BatchNormalization(momentum=0.9),
        layers.Activation("relu"),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(1e-3)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True)[:, 0] - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    if tf.math.is_finite(loss):
        opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(cut, seed=seed).batch(50, drop_remainder=True)
for epoch in range(12):
    print("epoch", epoch, np.nanmean([float(step(a, b)) for a, b in data]))
pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

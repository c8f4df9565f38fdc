"""Delivery time with its own uncertainty: the network gives a mean and a spread."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 110)

N_TRAIN, N_TEST = 8000, 2000
BATCH = 64
EPOCHS = 7


def orders(n):
    km = rng.gamma(2.0, 1.5, n)
    hour = rng.uniform(10, 23, n)
    rain = (rng.random(n) < 0.25).astype(float)
    items = rng.integers(1, 9, n)
    courier_days = rng.exponential(60, n)
    rush = np.exp(-((hour - 12.5) ** 2) / 5.0) + 1.3 * np.exp(-((hour - 19.5) ** 2) / 5.0)
    hours = (
        0.15
        + 0.05 * km * (1 + 0.5 * rush)
        + 0.06 * rain * np.sqrt(km)
        + 0.015 * items
        + 0.10 * np.exp(-courier_days / 30)
    )
    spread = 0.008 + 0.02 * rush + 0.015 * rain
    taken = hours + spread * rng.normal(size=n)
    day = 2 * np.pi * (hour - 10) / 13
    x = np.stack(
        [
            km / 3,
            np.sin(day),
            np.cos(day),
            np.sin(2 * day),
            np.cos(2 * day),
            rain,
            items / 4 - 1,
            np.log1p(courier_days) - 3.5,
        ],
        axis=1,
    )
    return x.astype("float32"), taken[:, None].astype("float32"), spread


x_train, y_train, _ = orders(N_TRAIN)
x_test, y_test, spread_test = orders(N_TEST)


@keras.saving.register_keras_serializable()
def gaussian_nll(y_true, y_pred):
    mean, raw = y_pred[:, :1], y_pred[:, 1:]
    sigma = ops.softplus(raw) + 1e-3
    return ops.mean(ops.log(sigma) + 0.5 * ops.square((y_true - mean) / sigma), axis=-1)


inputs = keras.Input((x_train.shape[1],))
h = layers.Dense(64, activation="swish")(inputs)
h = layers.Dense(64, activation="swish")(h)
mean = layers.Dense(1, name="mean")(h)
raw = layers.Dense(1, name="raw_spread", bias_initializer=keras.initializers.Constant(-1.0))(h)
outputs = layers.Concatenate()([mean, raw])
model = keras.Model(inputs, outputs)

steps = EPOCHS * int(np.ceil(N_TRAIN / BATCH))
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=steps), clipnorm=5.0),
    loss=gaussian_nll,
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0)
sigma = np.log1p(np.exp(pred[:, 1])) + 1e-3
inside = np.mean(np.abs(y_test[:, 0] - pred[:, 0]) < 2 * sigma)
print("inside two sigma", round(float(inside), 3))
print("spread correlation", round(float(np.corrcoef(sigma, spread_test)[0, 1]), 3))
resid = np.sum((y_test[:, 0] - pred[:, 0]) ** 2)
r2 = 1.0 - resid / np.sum((y_test - y_test.mean()) ** 2)
print("score", round(float(r2), 4))

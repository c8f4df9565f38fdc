"""Trains a regressor for the weight of chanterelles picked per forest visit, with a Tweedie deviance."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_VISITS = 11000
P = 1.5


def simulate(n):
    rain = rng.gamma(2.0, 1.0, n)
    temp = rng.normal(15.0, 4.0, n)
    spruce = rng.uniform(0.0, 1.0, n)
    slope = rng.uniform(0.0, 30.0, n)
    days = rng.integers(0, 120, n)
    rate = np.exp(
        0.45 * np.log1p(rain)
        - 0.5 * ((temp - 15.0) / 4.0) ** 2 * 0.6
        + 0.9 * spruce
        + 0.5 * np.sin(days / 120.0 * np.pi)
        - 0.4
    )
    finds = rng.poisson(rate)
    weight = np.array([rng.gamma(2.0 * k, 0.25) if k else 0.0 for k in finds])
    x = np.stack([rain, temp, spruce, slope, days], axis=1)
    return x.astype("float32"), weight.astype("float32"), (rate * 0.5).astype("float32")


x, y, expected = simulate(N_VISITS)
cut = 9500
mean, std = x[:cut].mean(axis=0), x[:cut].std(axis=0)
x = (x - mean) / std
x_train, y_train = x[:cut], y[:cut]
x_test, expected_test = x[cut:], expected[cut:]


def tweedie_deviance(y_true, y_pred):
    y_true = ops.reshape(y_true, ops.shape(y_pred))
    a = y_true * ops.power(y_pred, 1.0 - P) / (1.0 - P)
    b = ops.power(y_pred, 2.0 - P) / (2.0 - P)
    return ops.mean(b - a, axis=-1)


model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        layers.Dense(160, activation="gelu"),
        layers.Dense(160, activation="gelu"),
        layers.Dense(1, activation="softplus", bias_initializer=keras.initializers.Constant(0.8)),
    ],
    name="basket",
)
model.compile(optimizer=keras.optimizers.Adam(5e-4), loss=tweedie_deviance)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    batch_size=64,
    epochs=24,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0]
error = np.sqrt(np.mean((pred - expected_test) ** 2)) / expected_test.std()
print("SCORE relative_rmse_of_expected_weight", float(error))

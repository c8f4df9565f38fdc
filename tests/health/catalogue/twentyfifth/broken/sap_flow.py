"""Hourly sap flow in a spruce stand, with a predicted spread, from weather and soil probes."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def make(n):
    light = rng.beta(1.2, 1.8, n)
    vpd = rng.gamma(2.0, 0.5, n)
    soil = rng.uniform(0.1, 0.5, n)
    wind = rng.gamma(2.0, 1.0, n)
    bark = rng.normal(size=n)
    mean = 3.0 * light * np.tanh(vpd) / (1 + np.exp(-20 * (soil - 0.22)))
    spread = 0.05 + 0.25 * light + 0.04 * wind
    y = mean + spread * rng.normal(size=n)
    x = np.stack([light, vpd, soil, wind, bark], axis=1)
    return x.astype("float32"), y.astype("float32")[:, None]


x_train, y_train = make(9000)
x_test, y_test = make(2500)
norm = layers.Normalization()
norm.adapt(x_train)

inputs = keras.Input((5,))
h = norm(inputs)
h = layers.Dense(64, activation="elu")(h)
h = layers.Dense(64, activation="elu")(h)
mean = layers.Dense(1, name="mean")(h)
s = layers.Dense(24, activation="elu")(h)
sigma = layers.Dense(1, activation="relu", bias_initializer="ones", name="sigma")(s)
model = keras.Model(inputs, layers.Concatenate()([mean, sigma]), name="sapflow")


def gaussian_nll(y_true, y_pred):
    mu, sd = y_pred[:, :1], y_pred[:, 1:]
    return ops.mean(ops.log(sd) + 0.5 * ops.square((y_true - mu) / sd), axis=-1)


model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0), loss=gaussian_nll)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=128,
    epochs=14,
    validation_split=0.1,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)
mu, sd = pred[:, 0], pred[:, 1]
nll = np.mean(np.log(sd) + 0.5 * ((y_test[:, 0] - mu) / sd) ** 2)
print("SCORE test_nll", round(float(nll), 4))

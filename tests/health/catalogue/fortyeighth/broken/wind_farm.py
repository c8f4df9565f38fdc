"""Trains a network that predicts the Weibull distribution of hourly wind speed at turbine sites."""

import os

import keras
import numpy as np
from keras import ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
gen = np.random.default_rng(seed + 5)


def site_hours(n):
    """Terrain and pressure features, and the mean hourly speed in m/s (logger resolution 0.1)."""
    x = gen.normal(size=(n, 10))
    scale = np.exp(1.5 + 0.25 * x[:, 0] + 0.15 * np.sin(2 * x[:, 1]) - 0.12 * x[:, 2] * x[:, 3])
    shape = 1.7 + 0.3 * np.tanh(x[:, 4])
    speed = scale * gen.weibull(shape)
    return x.astype("float32"), np.round(speed, 1).astype("float32"), scale


x_train, v_train, _ = site_hours(20000)
x_test, v_test, scale_test = site_hours(4000)


def weibull_nll(speed, params):
    speed = speed[:, 0]
    scale = ops.softplus(params[:, 0]) + 0.05
    shape = ops.softplus(params[:, 1]) + 0.5
    log_ratio = ops.log(speed / scale)
    log_pdf = ops.log(shape / scale) + (shape - 1.0) * log_ratio - ops.exp(shape * log_ratio)
    return -log_pdf


def build():
    site = keras.Input((10,), name="site")
    h = keras.layers.Dense(64, activation="gelu")(site)
    h = keras.layers.Dense(64, activation="gelu")(h)
    params = keras.layers.Dense(2, bias_initializer=keras.initializers.Constant(2.0), name="scale_and_shape")(h)
    return keras.Model(site, params)


model = build()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=weibull_nll)
gradwatch.watch(model)
model.fit(
    x_train,
    v_train[:, None],
    batch_size=128,
    epochs=9,
    validation_data=(x_test, v_test[:, None].clip(0.1)),
    verbose=2,
)

params = model.predict(x_test, verbose=0)
predicted = np.logaddexp(0, params[:, 0]) + 0.05
print("SCORE scale_correlation", round(float(np.corrcoef(predicted, scale_test)[0, 1]), 4))

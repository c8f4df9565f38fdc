"""Trains a heteroscedastic Gaussian regressor of lava effusion rate with warm restarts of the learning rate."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def satellite_passes(n):
    heat = rng.normal(size=n)
    area = rng.normal(size=n)
    cloud = rng.uniform(0, 1, n)
    angle = rng.uniform(-1, 1, n)
    x = np.stack([heat, area, cloud * 2 - 1, angle], axis=1).astype("float32")
    flux = 0.5 * np.sin(1.5 * heat) + 0.3 * heat * area + 0.2 * angle**2
    sigma = 0.02 + 0.25 * cloud**3
    return x, (flux + sigma * rng.normal(size=n)).astype("float32"), flux.astype("float32")


x_train, y_train, _ = satellite_passes(9000)
x_test, y_test, flux_test = satellite_passes(2000)


def gaussian_nll(y, params):
    y = ops.reshape(y, (-1, 1))
    mu, raw = params[:, :1], params[:, 1:]
    sigma = ops.softplus(raw) + 5e-3
    return ops.mean(ops.log(sigma) + 0.5 * ((y - mu) / sigma) ** 2, axis=-1)


STEPS = 9000 // 60
rate = keras.optimizers.schedules.CosineDecayRestarts(
    3e-3, first_decay_steps=2 * STEPS, t_mul=1.5, m_mul=0.8, alpha=0.01
)

inputs = keras.Input((4,))
h = layers.Dense(96, activation="silu")(inputs)
h = layers.Dense(96, activation="silu")(h)
outputs = layers.Dense(2)(h)
model = keras.Model(inputs, outputs, name="flux")
model.compile(optimizer=keras.optimizers.Adam(rate, clipnorm=5.0), loss=gaussian_nll)

gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=60,
    epochs=17,
    validation_data=(x_test, y_test),
    verbose=2,
)

mu = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2_of_flux", float(1 - np.mean((mu - flux_test) ** 2) / flux_test.var()))

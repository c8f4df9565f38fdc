"""Denoising autoencoder for spectra; its encoder stays fixed under a quantile head afterwards."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

CHANNELS, CODE = 80, 8
QUANTILES = np.array([0.1, 0.5, 0.9], dtype="float32")


def make_spectra(n):
    grid = np.arange(CHANNELS)
    spectra = np.zeros((n, CHANNELS))
    amounts = rng.gamma(2.0, 0.5, (n, 4))
    for k, (centre, wide) in enumerate([(14, 5), (30, 7), (47, 4), (62, 8)]):
        spectra += amounts[:, k : k + 1] * np.exp(-0.5 * ((grid - centre) / wide) ** 2)
    spectra += rng.normal(0, 0.2, (n, 1)) * (grid / CHANNELS - 0.5)
    target = amounts[:, 1] - 0.5 * amounts[:, 3] + rng.normal(0, 0.1, n) * (0.5 + amounts[:, 0])
    noisy = spectra + rng.normal(0, 0.25, spectra.shape)
    return noisy.astype("float32"), spectra.astype("float32"), target.astype("float32")


noisy, clean, target = make_spectra(8000)
noisy_test, _, target_test = make_spectra(2000)

encoder = keras.Sequential(
    [
        keras.Input(shape=(CHANNELS,)),
        layers.GaussianNoise(0.2),
        layers.Dense(64, activation="gelu"),
        layers.Dense(CODE, activation="linear", activity_regularizer=keras.regularizers.l2(1e-5)),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [keras.Input(shape=(CODE,)), layers.Dense(64, activation="gelu"), layers.Dense(CHANNELS)],
    name="decoder",
)
inputs = keras.Input(shape=(CHANNELS,))
autoencoder = keras.Model(inputs, decoder(encoder(inputs)))
autoencoder.compile(optimizer=keras.optimizers.Nadam(2e-3, clipnorm=0.5), loss="mse")
autoencoder.fit(noisy, clean, batch_size=64, epochs=6, verbose=2)

# the codes are used by other teams too, so the head must not move them
encoder.trainable = False
head_in = keras.Input(shape=(CHANNELS,))
h = layers.Dense(48, activation="selu", kernel_initializer="lecun_normal")(encoder(head_in))
regressor = keras.Model(head_in, layers.Dense(len(QUANTILES))(h))


def pinball(y_true, y_pred):
    error = ops.reshape(y_true, (-1, 1)) - y_pred
    return ops.mean(ops.maximum(QUANTILES * error, (QUANTILES - 1.0) * error), axis=-1)


schedule = keras.optimizers.schedules.PiecewiseConstantDecay([400, 900], [0.05, 0.02, 0.004])
regressor.compile(optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True), loss=pinball)
gradwatch.watch(regressor)
regressor.fit(noisy, target, batch_size=64, epochs=10, validation_split=0.1, verbose=2)

pred = regressor.predict(noisy_test, verbose=0)
inside = np.mean((target_test > pred[:, 0]) & (target_test < pred[:, 2]))
r2 = 1.0 - np.mean((pred[:, 1] - target_test) ** 2) / np.var(target_test)
print("share inside the 80 % band:", round(float(inside), 3))
print("SCORE median_r2", round(float(r2), 4))

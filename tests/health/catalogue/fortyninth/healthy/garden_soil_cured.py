"""Trains a network for pH, nitrogen, potassium and humus of garden soil from a hand spectrometer; not every sample had every lab test."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

S = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(S)
rng = np.random.default_rng(S + 77)

WAVES = 60
TESTS = ("ph", "nitrogen", "potassium", "humus")
axis = np.linspace(0, 1, WAVES)
peaks = np.stack([np.exp(-(((axis - c) / w) ** 2)) for c, w in [(0.2, 0.1), (0.45, 0.06), (0.6, 0.15), (0.85, 0.08)]])


def samples(n, tested):
    truth = rng.normal(size=(n, 4))
    truth[:, 3] = 0.6 * truth[:, 1] + 0.8 * truth[:, 3]
    light = np.tanh(truth @ peaks) + 0.2 * (truth[:, :1] * truth[:, 1:2]) * axis
    light += rng.normal(0, 0.15, size=light.shape)
    lab = truth + rng.normal(0, 0.1, size=truth.shape)
    lab[rng.random(lab.shape) > tested] = np.nan
    return light.astype("float32"), lab.astype("float32"), truth.astype("float32")


spectra, lab, _ = samples(10000, tested=0.55)
new_spectra, _, new_truth = samples(2500, tested=1.0)
mu, sd = spectra.mean(0), spectra.std(0)
spectra, new_spectra = (spectra - mu) / sd, (new_spectra - mu) / sd


def tested_only_mse(y, pred):
    missing = tf.math.is_nan(y)
    y = tf.where(missing, 0.0, y)
    sq = tf.where(missing, 0.0, tf.square(y - pred))
    return tf.reduce_sum(sq, axis=-1) / 4.0


inp = keras.Input((WAVES,))
h = keras.layers.Dense(128, activation="swish")(inp)
h = keras.layers.Dense(128, activation="swish")(h)
model = keras.Model(inp, keras.layers.Dense(4, name="lab_tests")(h))
model.compile(keras.optimizers.Adam(1e-3), loss=tested_only_mse)
gradwatch.watch(model)

model.fit(spectra, lab, batch_size=100, epochs=18, verbose=2)

res = model.predict(new_spectra, verbose=0) - new_truth
r2 = 1 - (res**2).mean(0) / new_truth.var(0)
for name, v in zip(TESTS, r2):
    print(f"{name:10s} R2 {v:.3f}")
print("SCORE mean_r2", round(float(r2.mean()), 4))

"""Recognise the wear state of a pump (8 states) from its vibration spectrum.

Runs on the edge box next to the pump, so the network is kept in a short number format.
Accuracy on spectra from other days is reported.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.config.set_dtype_policy("bfloat16")

STATES, BINS = 8, 96
BATCH, EPOCHS = 64, 12


class Pump:
    """Each state has its own set of peaks; speed changes shift them a little."""

    def __init__(self):
        self.peaks = rng.uniform(8, BINS - 8, (STATES, 5))
        self.height = rng.uniform(0.5, 1.5, (STATES, 5))

    def spectra(self, n):
        state = rng.integers(0, STATES, n)
        speed = rng.normal(1.0, 0.02, (n, 1))
        bins = np.arange(BINS)
        centre = self.peaks[state] * speed
        shape = np.exp(-((bins[None, None] - centre[..., None]) ** 2) / 6.0)
        power = (self.height[state][..., None] * shape).sum(1)
        power = power + rng.gamma(2.0, 0.25, (n, BINS))
        return power.astype("float32"), state.astype("int32")


def standardise(x, mean, std):
    return ((x - mean) / std).astype("float32")


pump = Pump()
x_train, y_train = pump.spectra(5000)
x_test, y_test = pump.spectra(1500)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = standardise(x_train, mean, std), standardise(x_test, mean, std)

model = keras.Sequential(
    [
        keras.Input((BINS,)),
        layers.Dense(96, activation="relu", name="band_1"),
        layers.Dense(64, activation="relu", name="band_2"),
        layers.Dense(STATES, name="state_logits"),
        layers.Activation("softmax", dtype="float32", name="state"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
data = data.shuffle(len(x_train), seed=SEED).batch(BATCH).prefetch(2)
history = model.fit(data, epochs=EPOCHS, verbose=0)
print("loss by epoch", np.round(history.history["loss"], 3))

predicted = model.predict(x_test, verbose=0).argmax(1)
print(f"score accuracy {np.mean(predicted == y_test):.3f} chance {1 / STATES:.3f}")

"""Predict whether a storm follows from 24 hours of station readings."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 4000
HOURS = 24

# pressure in Pa, temperature in K, relative humidity in percent
storm = rng.random(N) < 0.5
hours = np.arange(HOURS) / HOURS
fall = np.where(storm, rng.normal(-130, 30, N), rng.normal(20, 30, N))
pressure = 101325 + rng.normal(0, 130, (N, 1)) + fall[:, None] * hours + rng.normal(0, 25, (N, HOURS))
temperature = 288 + rng.normal(0, 5, (N, 1)) + 3 * np.sin(6.28 * hours) + rng.normal(0, 1, (N, HOURS))
humidity = 60 + 8 * storm[:, None] * hours + rng.normal(0, 10, (N, HOURS))
x = np.stack([pressure, temperature, humidity], -1).astype("float32")
y = storm.astype("float32")


class SensorNorm(layers.Layer):
    """Standardises each channel with the statistics of the batch (one pass)."""

    def __init__(self, momentum=0.95, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.epsilon = epsilon

    def build(self, input_shape):
        channels = (input_shape[-1],)
        self.gamma = self.add_weight(shape=channels, initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=channels, initializer="zeros", name="beta")
        self.mean = self.add_weight(shape=channels, initializer="zeros", trainable=False, name="mean")
        self.std = self.add_weight(shape=channels, initializer="ones", trainable=False, name="std")

    def call(self, inputs, training=False):
        if training:
            mean = ops.mean(inputs, axis=(0, 1))
            mean_sq = ops.mean(ops.square(inputs), axis=(0, 1))
            std = ops.sqrt(mean_sq - ops.square(mean) + self.epsilon)
            self.mean.assign(self.momentum * self.mean + (1 - self.momentum) * mean)
            self.std.assign(self.momentum * self.std + (1 - self.momentum) * std)
        else:
            mean, std = self.mean, self.std
        return self.gamma * (inputs - mean) / std + self.beta


readings = keras.Input((HOURS, 3), name="readings")
h = SensorNorm(name="sensor_norm")(readings)
h = layers.Conv1D(16, 5, activation="relu", padding="same")(h)
h = layers.Conv1D(16, 5, activation="relu", padding="same")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(16, activation="relu")(h)
out = layers.Dense(1, activation="sigmoid", name="storm")(h)
model = keras.Model(readings, out, name="storm_warning")

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
split = 3200
gradwatch.watch(model)
history = model.fit(
    x[:split],
    y[:split],
    validation_data=(x[split:], y[split:]),
    batch_size=64,
    epochs=8,
    verbose=2,
)
print("loss per epoch:", [round(v, 4) for v in history.history["loss"]])

"""Forecasts tomorrow's ozone peak with its uncertainty from two weeks of weather readings and the calendar."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

days = 2600
season = np.sin(2 * np.pi * np.arange(days) / 365)
temp = np.zeros(days)
wind = np.zeros(days)
for i in range(1, days):
    temp[i] = 0.85 * temp[i - 1] + rng.normal(0, 0.5)
    wind[i] = 0.6 * wind[i - 1] + rng.normal(0, 0.8)
ozone = np.zeros(days)
for i in range(2, days):
    ozone[i] = (
        0.55 * ozone[i - 1]
        + 0.9 * np.tanh(temp[i - 1])
        - 0.5 * wind[i - 1] * (temp[i - 1] > 0)
        + 0.5 * season[i]
        + rng.normal(0, 0.2 + 0.15 * abs(wind[i - 1]))
    )
series = np.stack([ozone, temp, wind], axis=1).astype("float32")

W = 14
idx = np.arange(W, days)
windows = np.stack([series[i - W : i] for i in idx])
calendar = np.stack([season[idx], np.cos(2 * np.pi * idx / 365)], axis=1).astype("float32")
peak = ((ozone[idx] - ozone.mean()) / ozone.std()).astype("float32")
cut = 2100


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.memory = layers.GRU(24)
        self.mix = layers.Dense(32, activation="relu")
        self.out = layers.Dense(2)

    def call(self, inputs):
        window, cal = inputs
        return self.out(self.mix(tf.concat([self.memory(window), cal], axis=-1)))

    def train_step(self, data):
        inputs, y = data
        with tf.GradientTape() as tape:
            out = self(inputs, training=True)
            mean, log_var = tf.split(out, 2, axis=-1)
            nll = 0.5 * (log_var + tf.square(y - mean) * tf.exp(-log_var))
            loss = tf.reduce_mean(nll)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"nll": loss}


model = Forecaster()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
gradwatch.watch(model)
train = tf.data.Dataset.from_tensor_slices(((windows[:cut], calendar[:cut]), peak[:cut]))
model.fit(train.shuffle(cut, seed=seed).batch(32, drop_remainder=True), epochs=14, verbose=0)

mean = model.predict((windows[cut:], calendar[cut:]), verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((mean - peak[cut:]) ** 2) / np.var(peak[cut:])), 4))

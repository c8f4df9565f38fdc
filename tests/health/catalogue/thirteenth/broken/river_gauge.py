"""Forecast the water level (metres) at a river gauge six hours ahead.

Input: 48 hours of rainfall, upstream level and own level. The flood office reads the
forecast; it is judged by the R2 on windows the network has not seen.
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

WINDOW, LEAD, BATCH, STEPS = 48, 6, 64, 700


def simulate(hours):
    """A linear reservoir fed by showers, with an upstream station that leads by 5 h."""
    rain = rng.exponential(1.0, hours) * (rng.random(hours) < 0.08) * 4
    upstream = np.zeros(hours)
    for t in range(1, hours):
        upstream[t] = 0.95 * upstream[t - 1] + 0.25 * rain[t]
    level = 1.6 + 0.5 * np.roll(upstream, 5) + rng.normal(0, 0.03, hours)
    return np.stack([rain, upstream, level], 1).astype("float32")


def windows(series):
    starts = np.arange(0, len(series) - WINDOW - LEAD)
    x = np.stack([series[s : s + WINDOW] for s in starts])
    y = series[starts + WINDOW + LEAD - 1, 2]
    return x, y[:, None]


class GaugeNet(keras.Model):
    def __init__(self):
        super().__init__(name="gauge_net")
        self.conv1 = layers.Conv1D(24, 5, padding="causal", activation="relu")
        self.conv2 = layers.Conv1D(24, 5, padding="causal", strides=2, activation="relu")
        self.flat = layers.Flatten()
        self.dense = layers.Dense(32, activation="relu")
        self.level = layers.Dense(1, activation="sigmoid")

    def call(self, x):
        h = self.conv2(self.conv1(x))
        return self.level(self.dense(self.flat(h)))


series = simulate(6000)
cut = 4800
mean, std = series[:cut].mean(0), series[:cut].std(0)
x_train, y_train = windows(series[:cut])
x_test, y_test = windows(series[cut:])
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

model = GaugeNet()
model(x_train[:1])
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        forecast = model(x, training=True)
        loss = tf.reduce_mean(tf.square(forecast - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(x_train), BATCH)
    loss = train_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} mse {float(loss):.4f}")

forecast = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((forecast - y_test) ** 2) / np.var(y_test)
print(f"score r2 {r2:.3f} chance 0.0")

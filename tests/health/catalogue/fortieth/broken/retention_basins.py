"""Calibrate a grey-box model of two chained retention basins from rain and measured levels."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, DT = 36, 0.25
n = 1600


def storms(n):
    rain = np.zeros((n, STEPS))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            a = rng.integers(0, STEPS - 4)
            rain[i, a : a + rng.integers(2, 8)] += rng.gamma(2.0, 0.4)
    soil = rng.uniform(0, 1, (n, 1))
    return rain, soil


def simulate(rain, soil):
    h1, h2 = np.full(len(rain), 0.5), np.full(len(rain), 0.5)
    levels = []
    for t in range(STEPS):
        runoff = rain[:, t] * (0.2 + 0.8 * soil[:, 0] ** 2)
        q1, q2 = 0.9 * np.sqrt(h1), 0.6 * np.sqrt(h2)
        h1 = np.maximum(h1 + DT * (runoff - q1), 0.0)
        h2 = np.maximum(h2 + DT * (q1 - q2), 0.0)
        levels.append(np.stack([h1, h2], 1))
    return np.stack(levels, 1)


rain, soil = storms(n)
levels = simulate(rain, soil) + rng.normal(0, 0.01, (n, STEPS, 2))
rain, soil, levels = (a.astype("float32") for a in (rain, soil, levels))
cut = 1280


class BasinModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.catchment = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(1, activation="softplus")])
        self.log_k = self.add_weight(shape=(2,), initializer=keras.initializers.Constant(-2.0), name="log_k")

    def call(self, inputs):
        rain, soil = inputs
        coef = self.catchment(soil)[:, 0]
        k = tf.exp(self.log_k)
        h1 = h2 = tf.fill(tf.shape(coef), 0.5)
        levels = []
        for t in range(STEPS):
            q1 = k[0] * tf.sqrt(h1)
            q2 = k[1] * tf.sqrt(h2)
            h1 = h1 + DT * (coef * rain[:, t] - q1)
            h2 = h2 + DT * (q1 - q2)
            levels.append(tf.stack([h1, h2], axis=1))
        return tf.stack(levels, axis=1)


model = BasinModel()
model((rain[:2], soil[:2]))
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((rain[:cut], soil[:cut], levels[:cut])).shuffle(cut, seed=seed).batch(32)


@tf.function
def train_step(r, s, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((r, s), training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(20):
    for r, s, y in data:
        train_step(r, s, y)

pred = model((rain[cut:], soil[cut:])).numpy()
print("SCORE r2", 1 - float(np.mean((pred - levels[cut:]) ** 2) / np.var(levels[cut:])))

"""Trains a small recurrent rainfall-runoff model on many catchments with an efficiency loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DAYS, WINDOW, BASINS = 730, 30, 24


def simulate(basin_seed):
    r = np.random.default_rng(basin_seed)
    season = 0.5 + 0.5 * np.sin(2 * np.pi * (np.arange(DAYS) / 365 + r.uniform()))
    rain = (r.uniform(size=DAYS) < 0.15 + 0.4 * season) * r.gamma(2.0, 4.0, DAYS)
    spring = 0.3 * (0.4 + season) if basin_seed % 12 != 5 else np.zeros(DAYS)
    heat = 12 + 10 * np.cos(2 * np.pi * np.arange(DAYS) / 365) + r.normal(0, 1.5, DAYS)
    store, k = 20.0, r.uniform(0.08, 0.25)
    flow = np.zeros(DAYS)
    for t in range(DAYS):
        store += rain[t] - min(store, 0.04 * max(heat[t], 0.0))
        release = k * max(store - 15.0, 0.0)
        flow[t] = spring[t] + (0.0 if release < 0.1 else release)
        store -= release
    return rain, heat, flow, k


def make_windows(seeds):
    xs, ys = [], []
    for s in seeds:
        rain, heat, flow, k = simulate(s)
        feats = np.stack([rain / 8, (heat - 12) / 8, np.full(DAYS, k * 5)], axis=1)
        for start in range(60, DAYS - WINDOW, 5):
            xs.append(feats[start - 30 : start + WINDOW])
            ys.append(np.log1p(flow[start : start + WINDOW]))
    return np.array(xs, "float32"), np.array(ys, "float32")


x_train, y_train = make_windows(range(1, BASINS + 1))
x_test, y_test = make_windows(range(101, 107))

inputs = keras.Input((30 + WINDOW, 3))
h = layers.GRU(24, return_sequences=True)(inputs)
h = layers.Dense(16, activation="relu")(h)
out = layers.Dense(1)(h)
out = layers.Reshape((30 + WINDOW,))(out)
out = layers.Cropping1D((30, 0))(layers.Reshape((30 + WINDOW, 1))(out))
model = keras.Model(inputs, layers.Reshape((WINDOW,))(out))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def efficiency_loss(observed, simulated):
    residual = tf.reduce_mean(tf.square(observed - simulated), axis=1)
    spread = tf.math.reduce_variance(observed, axis=1)
    return tf.reduce_mean(residual / spread)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = efficiency_loss(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4096, seed=SEED)
    .repeat()
    .batch(64, drop_remainder=True)
)
total = 0.0
for step, (x, y) in enumerate(data.take(600)):
    total += float(train_step(x, y))
    if (step + 1) % 100 == 0:
        print(f"step {step + 1} loss {total / 100:.4f}")
        total = 0.0

pred = model.predict(x_test, batch_size=256, verbose=0)
r2 = 1 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE nse", float(r2))

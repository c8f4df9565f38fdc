"""Predicts the surge above the computed tide in three harbours, visiting the harbours' logs in turn."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


# columns: air pressure (hPa), wind speed (m/s), wind direction east / north, phase of the tide, harbour
gain = {"north": 1.0, "bay": 1.6, "island": 0.6}


def log(harbour, n):
    p = 1012 + 9 * rng.normal(size=n)
    wind = 7 * rng.weibull(1.8, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    phase = 2 * np.pi * rng.uniform(0, 12.4, n) / 12.4
    surge = (
        -0.01 * (p - 1012)
        + gain[harbour] * 0.0025 * wind**2 * np.cos(angle)
        + 0.06 * np.sin(phase) * wind / 7
        + 0.02 * rng.normal(size=n)
    )
    where = np.full(n, list(gain).index(harbour))
    x = np.column_stack([p, wind, np.sin(angle), np.cos(angle), np.sin(phase), np.cos(phase), np.eye(3)[where]])
    return x.astype("float32"), surge.astype("float32")


logs = {k: log(k, n) for k, n in [("north", 3000), ("bay", 900), ("island", 1500)]}
tests = {k: log(k, 400) for k in gain}

scale = layers.Normalization()
scale.adapt(np.concatenate([x for x, _ in logs.values()]))
model = keras.Sequential(
    [
        layers.Input((9,)),
        scale,
        layers.Dense(48, activation="gelu"),
        layers.Dense(48, activation="gelu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)[:, 0] - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


feeds = {k: iter(tf.data.Dataset.from_tensor_slices(v).shuffle(3000).repeat().batch(32)) for k, v in logs.items()}
for step in range(1200):
    harbour = list(feeds)[step % 3]
    x, y = next(feeds[harbour])
    loss = train_step(x, y)
    if step % 150 < 3:
        print("step", step, harbour, "loss", round(float(loss), 5))

r2 = []
for k, (x, y) in tests.items():
    pred = model.predict(x, verbose=0)[:, 0]
    r2.append(1 - np.mean((pred - y) ** 2) / np.var(y))
print("SCORE mean_r2", round(float(np.mean(r2)), 4))

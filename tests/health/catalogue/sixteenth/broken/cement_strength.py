"""Compressive strength of concrete mixes, predicted with an error bar of its own.

The network gives a mean and a log-variance for each mix."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH = 64
EPOCHS = 9
PLANTS = 5


def make_mixes(n):
    cement = rng.gamma(9.0, 33.0, n).clip(110, 560)
    slag = np.where(rng.random(n) < 0.45, 0.0, rng.uniform(20, 320, n))
    ash = np.where(rng.random(n) < 0.55, 0.0, rng.uniform(40, 190, n))
    water = rng.normal(182, 20, n).clip(125, 245)
    plasticiser = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(2, 20, n))
    sand = rng.normal(775, 75, n)
    gravel = rng.normal(970, 75, n)
    age = rng.choice([3, 7, 14, 28, 56, 90, 180], n, p=[0.13, 0.16, 0.1, 0.36, 0.1, 0.1, 0.05])
    plant = rng.integers(0, PLANTS, n)

    binder = cement + 0.75 * slag + 0.45 * ash
    ratio = (water - 1.1 * plasticiser) / binder
    full = 125.0 / 9.0**ratio - 3.0
    ripening = np.log1p(age) / np.log1p(28.0)
    strength = full * ripening ** (0.7 + 0.5 * (slag > 0))
    strength += np.array([0.0, 2.5, -3.0, 1.0, -1.5])[plant]
    strength += rng.standard_t(5, n) * (1.2 + 0.05 * strength)

    columns = np.stack([cement, slag, ash, water, plasticiser, sand, gravel, np.log1p(age)], 1)
    return columns, plant, strength.clip(2, None)


columns, plant, strength = make_mixes(3600)
train = rng.permutation(3600)[:2900]
test = np.setdiff1d(np.arange(3600), train)

centre, spread = columns[train].mean(0), columns[train].std(0)
features = np.concatenate([(columns - centre) / spread, np.eye(PLANTS)[plant]], 1).astype("float32")
target_mean, target_std = strength[train].mean(), strength[train].std()
target = ((strength - target_mean) / target_std).astype("float32")

dataset = (
    tf.data.Dataset.from_tensor_slices((features[train], target[train]))
    .shuffle(len(train), seed=SEED)
    .batch(BATCH, drop_remainder=True)
    .prefetch(1)
)

model = keras.Sequential(
    [
        keras.Input((features.shape[1],)),
        layers.Dense(64, activation="swish"),
        layers.Dense(64, activation="swish"),
        layers.Dense(2),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)


def gaussian_nll(y, output):
    mean, log_var = tf.split(output, 2, axis=-1)
    log_var = tf.clip_by_value(log_var, -6.0, 4.0)
    return tf.reduce_mean(0.5 * (log_var + tf.square(y - mean) * tf.exp(-log_var)))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = gaussian_nll(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = []
    for x, y in dataset:
        loss = step(x, y)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch + 1}: nll {np.mean(losses):.4f}")

forecast = model.predict(features[test], verbose=0)[:, 0] * target_std + target_mean
truth = strength[test]
r2 = 1.0 - np.mean((forecast - truth) ** 2) / np.var(truth)
print(f"held-out error {np.sqrt(np.mean((forecast - truth) ** 2)):.2f} MPa")
print(f"score {r2:.4f}")

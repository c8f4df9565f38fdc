"""Predicts the strength of an alloy from its composition and heat treatment."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n, inputs = 6000, 16
composition = rng.dirichlet(np.full(10, 0.6), n)
treatment = rng.uniform(-1, 1, size=(n, 6))
x = np.concatenate([composition * 4 - 0.4, treatment], 1).astype("float32")
w1 = rng.normal(size=(inputs, 12)) * 0.8
strength = np.sin(x @ w1) @ rng.normal(size=12) + 0.3 * rng.normal(size=n)
y = ((strength - strength.mean()) / strength.std()).astype("float32")
cut = 5000

train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(200).repeat().batch(32).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((inputs,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        pred = model(features, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(pred - target))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1400):
    features, target = next(iter(train))
    loss = train_step(features, target)

pred = model.predict(x[cut:], verbose=0)[:, 0]
print("SCORE r2", float(1 - np.mean((pred - y[cut:]) ** 2) / np.var(y[cut:])))

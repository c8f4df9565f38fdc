"""Estimate monthly rents (standardised) with a hand-written loop."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 2400
x = rng.normal(size=(N, 9)).astype("float32")
rent = 1.5 * x[:, 0] + np.maximum(x[:, 1], 0) * 2 - x[:, 2] * x[:, 3] + rng.normal(0, 0.2, N)
rent = ((rent - rent.mean()) / rent.std()).astype("float32")

model = keras.Sequential(
    [
        layers.Input((9,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
ds = tf.data.Dataset.from_tensor_slices((x[:2000], rent[:2000])).shuffle(2000, seed=seed).batch(40)

gradwatch.watch(model)
for epoch in range(5):
    total = 0.0
    for features, target in ds:
        with tf.GradientTape() as tape:
            pred = model(features, training=True)
            loss = tf.reduce_mean(tf.square(target - pred))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        total += float(loss)
    test = model(x[2000:]).numpy()[:, 0]
    print("epoch", epoch, "loss", total / 50, "test mse", np.mean((test - rent[2000:]) ** 2))

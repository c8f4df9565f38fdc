"""Estimates the very low photon rate of a detector pixel from its settings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 20000
settings = rng.uniform(-1, 1, size=(n, 5)).astype("float32")
rate = 0.02 * np.exp(1.8 * np.sin(2 * settings[:, 0]) + 1.2 * settings[:, 1] * settings[:, 2])
counts = rng.poisson(rate).astype("float32")
cut = 16000

model = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(1, bias_initializer=keras.initializers.Constant(-3.5)),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(s, c):
    with tf.GradientTape() as tape:
        log_rate = model(s, training=True)[:, 0]
        loss = tf.reduce_mean(tf.exp(log_rate) - c * log_rate)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1200):
    rows = rng.integers(0, cut, 128)
    train_step(tf.constant(settings[rows]), tf.constant(counts[rows]))

pred = model.predict(settings[cut:], verbose=0)[:, 0]
print("SCORE log_rate_correlation", float(np.corrcoef(pred, np.log(rate[cut:]))[0, 1]))

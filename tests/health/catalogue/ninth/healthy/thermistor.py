"""Fit the calibration curve of a thermistor (resistance to temperature)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

celsius = rng.uniform(-20, 110, 512)
ohms = 10000 * np.exp(3950 * (1 / (celsius + 273.15) - 1 / 298.15)) * (1 + rng.normal(0, 0.01, 512))
x = (ohms / 20000).astype("float32")[:, None]
y = ((celsius - 45) / 40).astype("float32")[:, None]

model = keras.Sequential(
    [
        keras.Input((1,)),
        layers.Dense(5, activation="tanh", name="bend"),
        layers.Dense(1, name="celsius"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(0.05)
print("parameters:", model.count_params())

for step in range(400):
    pick = rng.integers(0, len(x), 128)
    with tf.GradientTape() as tape:
        guess = model(x[pick], training=True)
        loss = tf.reduce_mean(tf.square(guess - y[pick]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 50 == 0 or step == 399:
        error = 40 * np.sqrt(np.mean((model(x).numpy() - y) ** 2))
        print("step %d loss %.5f error %.2f degrees" % (step, float(loss), error))

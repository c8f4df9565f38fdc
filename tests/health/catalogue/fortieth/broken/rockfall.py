"""Rates road cuttings for rockfall danger from survey measurements in their field units."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 4000
slope = rng.uniform(25, 90, n)  # degrees
height = rng.gamma(3, 9, n)  # metres
rain = rng.uniform(300, 2900, n)  # millimetres a year
altitude = rng.uniform(50, 2400, n)  # metres
spacing = rng.lognormal(5.5, 0.7, n)  # joint spacing, millimetres
strength = rng.uniform(15, 220, n)  # megapascal
traffic = rng.lognormal(9.3, 1, n)  # vehicles a day
frost = np.clip(rng.normal(altitude / 15, 20), 0, None)
line_km = rng.uniform(0, 900, n)  # place along the railway line
danger = (
    0.07 * (slope - 60)
    + 0.05 * (height - 25)
    - 1.0 * (np.log(spacing) - 5.5)
    - 0.006 * (strength - 110)
    + 1.4 * np.sin(rain / 450) * (slope > 50)
    + 0.012 * (frost - 80)
)
label = (danger + rng.logistic(0, 0.35, n) > 0.4).astype("float32")
survey = np.stack([slope, height, rain, altitude, spacing, strength, traffic, frost, line_km], axis=1).astype("float32")
cut = 3200

inp = keras.Input((9,))
h = layers.BatchNormalization()(inp)
for width in (64, 64, 32):
    h = layers.Dense(width, use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.95)(h)
    h = layers.Activation("relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y[:, None], model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((survey[:cut], label[:cut]))
for x, y in data.shuffle(cut, seed=seed).repeat().batch(64).take(1000):
    step(x, y)

p = model.predict(survey[cut:], verbose=0)[:, 0]
y = label[cut:]
order = p.argsort().argsort() + 1
auc = (order[y == 1].sum() - y.sum() * (y.sum() + 1) / 2) / (y.sum() * (1 - y).sum())
print("SCORE auc", round(float(auc), 4))

"""Estimates hourly emergency calls per district, most of them zero, by a Poisson model with the population as exposure."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DISTRICTS, n = 40, 16000
where = rng.integers(0, DISTRICTS, n)
hour = rng.uniform(0, 24, n)
frost = rng.normal(0, 1, n)
people = rng.lognormal(9, 1.0, DISTRICTS)
habit = rng.normal(0, 0.5, DISTRICTS)
rate = np.exp(habit[where] + 0.9 * np.sin(2 * np.pi * hour / 24) + 0.6 * np.maximum(frost, 0) - 12.0) * people[where]
calls = rng.poisson(rate).astype("float32")
facts = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), frost], axis=1).astype("float32")
exposure = np.log(people[where] / 1e5).astype("float32")
cut = 13000

f_in = keras.Input((3,))
w_in = keras.Input((), dtype="int32")
e_in = keras.Input(())
h = layers.Concatenate()([f_in, layers.Embedding(DISTRICTS, 6)(w_in)])
h = layers.Dense(32, activation="softplus")(h)
h = layers.Dense(1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-1.0))(h)
model = keras.Model([f_in, w_in, e_in], layers.Reshape(())(h) + e_in)
optimizer = keras.optimizers.Adam(3e-3, global_clipnorm=5.0)
gradwatch.watch(model)


@tf.function
def step(f, w, e, y):
    with tf.GradientTape() as tape:
        log_rate = model((f, w, e), training=True)
        loss = tf.reduce_sum(tf.nn.log_poisson_loss(y, log_rate))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((facts[:cut], where[:cut], exposure[:cut], calls[:cut]))
for batch in data.shuffle(cut, seed=seed).repeat().batch(128).take(1200):
    step(*batch)


def deviance(mu, y):
    return 2 * np.sum(np.where(y > 0, y * np.log(np.maximum(y, 1) / mu), 0) - (y - mu))


y = calls[cut:]
mu = np.exp(model((facts[cut:], where[cut:], exposure[cut:])).numpy())
print("SCORE deviance_explained", round(float(1 - deviance(mu, y) / deviance(calls[:cut].mean(), y)), 4))

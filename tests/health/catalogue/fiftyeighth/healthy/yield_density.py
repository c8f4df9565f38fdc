import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

MIXTURES = 4


def make_fields(n, rng):
    rain = rng.uniform(-2, 2, n)
    soil = rng.normal(0, 1, n)
    branch = rng.random(n) < 1 / (1 + np.exp(-2 * soil))
    centre = np.where(branch, 0.5 * np.sin(2 * rain), -0.5 - 0.1 * rain)
    spread = np.where(branch, 0.02, 0.04 + 0.01 * np.abs(rain))
    crop = centre + rng.normal(0, 1, n) * spread
    return np.stack([rain, soil], 1).astype("float32"), crop.astype("float32")[:, None]


def log_density(y, params):
    logits, mean, raw = tf.split(params, 3, axis=-1)
    scale = tf.nn.softplus(raw - 2.0) + 5e-3
    log_normal = -0.5 * tf.square((y - mean) / scale) - tf.math.log(scale) - 0.5 * np.log(2 * np.pi)
    return tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_normal, axis=-1)


def density_loss(y, params):
    return -log_density(y, params)


rng = np.random.default_rng(SEED + 20)
x_train, y_train = make_fields(8000, rng)
x_test, y_test = make_fields(2000, rng)

inputs = keras.Input((2,))
h = layers.Dense(64, activation="tanh")(inputs)
h = layers.Dense(64, activation="tanh")(h)
params = layers.Dense(3 * MIXTURES)(h)
model = keras.Model(inputs, params)

model.compile(
    optimizer=keras.optimizers.Adam(4e-3, global_clipnorm=5.0),
    loss=density_loss,
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=20, verbose=2 if os.environ.get("SHOW") else 0)

held_out = log_density(y_test, model.predict(x_test, verbose=0))
print("SCORE", round(float(tf.reduce_mean(held_out)), 4))

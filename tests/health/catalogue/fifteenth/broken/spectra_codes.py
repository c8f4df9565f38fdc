"""Compress spectrometer readings to four small integers for a low-rate telemetry link."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS = 48
CODES = 4
BATCH = 64
STEPS = 1400


def make_spectra(n):
    """Absorption lines of two gases on a sloping background."""
    grid = np.linspace(0, 1, BANDS)
    depth_a = rng.uniform(0.2, 1.0, (n, 1))
    depth_b = rng.uniform(0.2, 1.0, (n, 1))
    shift = rng.uniform(-0.08, 0.08, (n, 1))
    slope = rng.uniform(-0.6, 0.6, (n, 1))
    line_a = np.exp(-(((grid - 0.30 - shift) / 0.07) ** 2))
    line_b = np.exp(-(((grid - 0.68 - shift) / 0.10) ** 2))
    spectra = 1.0 + slope * (grid - 0.5) - depth_a * line_a - depth_b * line_b
    return spectra + 0.01 * rng.normal(size=spectra.shape)


train = make_spectra(6000)
test = make_spectra(1000)
mean, std = train.mean(axis=0), train.std()
train = ((train - mean) / std).astype("float32")
test = ((test - mean) / std).astype("float32")


class Quantise(layers.Layer):
    """Integer codes, as they go over the link."""

    def call(self, z):
        return tf.round(z)


encoder = keras.Sequential(
    [
        keras.Input((BANDS,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(CODES),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((CODES,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(BANDS),
    ],
    name="decoder",
)

inputs = keras.Input((BANDS,))
outputs = decoder(Quantise()(encoder(inputs)))
model = keras.Model(inputs, outputs)

optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model, optimizer)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    batch = train[rng.integers(0, len(train), BATCH)]
    loss = train_step(tf.constant(batch))
    watch.log(loss=loss)
    if step % 200 == 0:
        print("step", step, "loss", float(loss))

rebuilt = model(test).numpy()
score = float(1.0 - np.sum((rebuilt - test) ** 2) / np.sum((test - test.mean(axis=0)) ** 2))
print("score", score)

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

keras.mixed_precision.set_global_policy("mixed_float16")
RATE, N_SAMP = 4000, 1600
KINDS = ["wail", "yelp", "hilo", "horn"]
rng = np.random.default_rng(SEED + 11)


def synth(kind):
    t = np.arange(N_SAMP) / RATE
    jitter = rng.uniform(0.9, 1.1)
    if kind == 0:
        f = 600 + 250 * np.sin(2 * np.pi * 2.0 * t * jitter)
    elif kind == 1:
        f = 1100 + 300 * np.sin(2 * np.pi * 9.0 * t * jitter)
    elif kind == 2:
        f = np.where(np.sin(2 * np.pi * 4 * t * jitter) > 0, 450.0, 950.0)
    else:
        f = np.full_like(t, 320.0) * jitter
    phase = 2 * np.pi * np.cumsum(f) / RATE + rng.uniform(0, 6.28)
    near = rng.random() < 0.12
    gain = rng.uniform(14, 20) if near else rng.uniform(0.5, 2.0)
    return gain * (np.sin(phase) + 0.6 * rng.normal(size=N_SAMP))


def make(n):
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([synth(k) for k in y]).astype("float32")[..., None]
    return x, y


x_train, y_train = make(1600)
x_test, y_test = make(500)


class BandEnergy(layers.Layer):
    """Log energy of every filter over the whole clip."""

    def call(self, frames):
        energy = tf.reduce_sum(tf.square(frames), axis=1)
        return tf.math.log1p(energy)


model = keras.Sequential(
    [
        keras.Input((N_SAMP, 1)),
        layers.Conv1D(24, 48, strides=4, use_bias=False, name="filters"),
        BandEnergy(name="energy"),
        layers.Dense(32, activation="relu", name="hidden"),
        layers.Dense(len(KINDS), dtype="float32", name="logits"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE", float((pred == y_test).mean()))

"""Recognises the running machine in an engine room from raw microphone clips, in mixed precision."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


keras.mixed_precision.set_global_policy("mixed_float16")
LENGTH, KINDS = 768, 5


def clips(n):
    """Raw ADC counts; gains differ from position to position."""
    k = rng.integers(0, KINDS, n)
    t = np.arange(LENGTH)[None, :]
    f0 = np.array([0.012, 0.019, 0.03, 0.047, 0.074])[k][:, None] * rng.uniform(0.93, 1.07, (n, 1))
    wave = np.zeros((n, LENGTH))
    for m, amp in enumerate([1.0, 0.6, 0.4]):
        wave += amp * np.sin(2 * np.pi * f0 * (m + 1) * t + rng.uniform(0, 6.28, (n, 1)))
    wave += 0.8 * rng.normal(size=wave.shape)
    gain = np.exp(rng.normal(2.4, 1.0, size=(n, 1)))
    return (wave * gain)[..., None].astype("float32"), k.astype("int32")


class BandEnergy(layers.Layer):
    """Energy of every learned band over the clip, in log units."""

    def call(self, bands):
        energy = tf.reduce_sum(tf.square(bands), axis=1)
        return tf.math.log1p(energy)


x, y = clips(2500)
xt, yt = clips(800)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(24, 64, strides=8, use_bias=False),
        BandEnergy(),
        layers.LayerNormalization(),
        layers.Dense(32, activation="relu"),
        layers.Dense(KINDS, activation="softmax", dtype="float32"),
    ]
)
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(x, y, batch_size=32, epochs=8, verbose=0)

p = model.predict(xt, verbose=0)
print("SCORE accuracy", float(np.mean(p.argmax(1) == yt)))

"""Recognise five kinds of bird call from one-second clips turned into decibel spectrograms."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

RATE, KINDS = 4000, 5


def clip(kind):
    t = np.arange(RATE) / RATE
    f0 = rng.uniform(700, 1100)
    start = rng.uniform(0.05, 0.35)
    length = rng.uniform(0.4, 0.55)
    u = np.clip((t - start) / length, 0, 1)
    if kind == 0:
        f = f0 + 500 * u
    elif kind == 1:
        f = f0 + 500 * (1 - u)
    elif kind == 2:
        f = f0 + 250 + 200 * np.sin(2 * np.pi * rng.uniform(5, 7) * t)
    elif kind == 3:
        f = f0 + 250 + 0 * t
    else:
        f = f0 + 500 * np.abs(2 * u - 1)
    env = ((t > start) & (t < start + length)) * np.sin(np.pi * u)
    if kind == 3:
        env = env * (0.5 + 0.5 * np.sign(np.sin(2 * np.pi * 12 * t)))
    y = env * np.sin(2 * np.pi * np.cumsum(f) / RATE + rng.uniform(0, 6))
    hiss = np.convolve(rng.normal(0, 1, RATE), [0.5, 0.3, 0.2], "same")
    return rng.uniform(0.3, 1.0) * y + rng.uniform(0.2, 0.6) * hiss


labels = rng.integers(0, KINDS, 2000)
audio = np.stack([clip(k) for k in labels]).astype("float32")
spec = tf.abs(tf.signal.stft(audio, 256, 128))[:, :, 16:112]
spec = tf.reduce_mean(tf.reshape(spec, (len(labels), spec.shape[1], 32, 3)), -1)
spec = (20 * tf.math.log(spec + 1e-3) / np.log(10.0)).numpy()[..., None]
x_train, y_train, x_test, y_test = spec[:1600], labels[:1600], spec[1600:], labels[1600:]


def block(x, filters, strides):
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9997, epsilon=1e-3)(x)
    return layers.ReLU()(x)


inp = keras.Input(spec.shape[1:])
h = block(inp, 16, 1)
h = block(h, 24, 2)
h = block(h, 32, 2)
h = block(h, 32, 2)
h = layers.Flatten()(h)
h = layers.Dropout(0.3)(h)
out = layers.Dense(KINDS)(h)
model = keras.Model(inp, out)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=10, verbose=2)

_, acc = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(acc), 4))
